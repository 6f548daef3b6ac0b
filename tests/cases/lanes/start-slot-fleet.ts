import { existsSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { FleetProcess } from "@mainstay/fleet";
import { startProxy, until, type Proxy } from "@mainstay/testing";
import type { CaseFleet, CaseOn } from "../lane/define-case.js";

/** A supervisor and the proxy that is its only way to the database. */
export type Supervisor = Readonly<{ process: FleetProcess; link: Proxy }>;

/** One step of the lane, by the clock of this machine. */
export type Step = Readonly<{ pid: number; at: number }>;

/** Three supervisors that have the lane `slots`, and a worker. */
export type SlotFleet = CaseFleet & Readonly<{
  /** The slot in which everything stood; later ones count. */
  firstSlot: number;
  currentSlot: () => Promise<number>;
  /** Waits until so many milliseconds are left to the next slot. */
  awaitSlot: (beforeMs: number) => Promise<void>;
  /** Lays the lane `slots` on a supervisor that holds no other lane, on another one than `last`; waits until it works. */
  layApart: (last?: Supervisor) => Promise<Supervisor>;
  /** When the lease of the lane runs out, in milliseconds of the epoch. */
  leaseEnd: () => Promise<number>;
  steps: () => readonly Step[];
  /** Every slot's action, oldest first, and how long after the slot's begin it was. */
  actions: () => Promise<readonly Readonly<{ slot: number; pid: number; lateMs: number }>[]>;
}>;

const preload = new URL("./with-slots.mjs", import.meta.url).href;

/** Starts it. Slots begin at whole multiples of `slotMs` of the epoch, by the clock of the database. */
export async function startSlotFleet(on: CaseOn, { slotMs, leaseMs }: { slotMs: number; leaseMs: number }): Promise<SlotFleet> {
  const fleet = await on.startFleet({ workers: 1, supervisors: 0 });
  const stepsFile = path.join(fleet.logFolder, "steps.jsonl");
  on.defer(() => { rmSync(stepsFile, { force: true }); });
  await fleet.sql("create table case_actions (slot bigint primary key, pid int not null, at timestamptz not null default clock_timestamp())");
  const supervisors: Supervisor[] = [];
  for (let index = 0; index < 3; index++) {
    const link = await startProxy(fleet.databaseUrl);
    on.defer(link.stop);
    const process = await fleet.fleet.add("supervisor", {
      env: { NODE_OPTIONS: `--import=${preload}`, CASE_SLOT_MS: String(slotMs), CASE_STEPS: stepsFile, DATABASE_URL: link.through(fleet.databaseUrl) },
    });
    supervisors.push({ process, link });
  }
  const steps = (): Step[] => (existsSync(stepsFile) ? readFileSync(stepsFile, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line) as Step) : []);
  const actions = async () => fleet.sql<{ slot: number; pid: number; lateMs: number }>(
    "select slot::int, pid, (extract(epoch from at) * 1000 - slot * $1::int)::float8 as \"lateMs\" from case_actions order by slot", [slotMs]);
  const slotNow = async () => {
    const [row] = await fleet.sql<{ ms: number }>("select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms");
    if (row === undefined) throw new Error("the database tells no time");
    return { slot: Math.floor(row.ms / slotMs), leftMs: slotMs - (row.ms % slotMs) };
  };
  const holderOf = async (lanes: readonly string[]) => {
    const rows = await fleet.sql<{ holder: string | null }>("select distinct holder from lanes where name = any($1::text[])", [lanes]);
    return supervisors.filter((one) => rows.some(({ holder }) => holder !== null && holder === incarnationOf(one.process)));
  };
  await until("the first action", async () => (await actions()).length > 0);
  return {
    ...fleet, steps, actions,
    firstSlot: (await slotNow()).slot,
    currentSlot: async () => (await slotNow()).slot,
    async awaitSlot(beforeMs) {
      let { leftMs } = await slotNow();
      if (leftMs < beforeMs) leftMs += slotMs;
      await sleep(leftMs - beforeMs);
    },
    async layApart(last) {
      const busy = await holderOf(["deadlines", "instances", "positions", "release", "retention"]);
      const chosen = supervisors.find((one) => !busy.includes(one) && one !== last);
      if (chosen === undefined) throw new Error("every supervisor holds a lane");
      await until("the chosen supervisor to hold the lane and to work on it", async () => {
        await fleet.sql(
          "update lanes set holder = $1, token = token + 1, until = now() + $2 * interval '1 millisecond' where name = 'slots' and holder is distinct from $1", [incarnationOf(chosen.process), leaseMs]);
        return steps().some(({ pid, at }) => pid === chosen.process.pid && at > Date.now() - 200);
      });
      return chosen;
    },
    async leaseEnd() {
      const [row] = await fleet.sql<{ until: Date }>("select until from lanes where name = 'slots'");
      if (row === undefined) throw new Error("the lane slots is not there");
      return row.until.getTime();
    },
  };
}

/** The incarnation that a process goes under now. */
function incarnationOf(one: FleetProcess): string {
  const said = one.lines().findLast(({ event }) => event?.["msg"] === "incarnation registered");
  const incarnation = said?.event?.["incarnation"];
  return typeof incarnation === "string" ? incarnation : one.incarnation;
}
