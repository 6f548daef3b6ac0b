import { expect, test } from "vitest";
import { isTerminal, transitions, type RunStatus, type Transition, type Verb } from "./transitions.js";

/** Two holders that may be stale: each remembers the fence of its last claim and goes on believing in it. */
type Actor = "A" | "B";
type State = {
  status: RunStatus;
  owner: Actor | undefined;
  fence: number;
  /** What each actor believes to hold. */
  believes: Readonly<Record<Actor, number | undefined>>;
  lapsed: Readonly<Record<Actor, boolean>>;
  /** A due time or an outbox row: something will look at the run by itself. */
  announced: boolean;
  stop: "cancel" | "pause" | undefined;
  /** What a paused run goes back to. */
  pausedFrom: RunStatus | undefined;
  suspected: boolean;
};
type Move = { verb: string; to: State };
type Table = Readonly<Record<Verb, Transition>>;

const MOST_FENCE = 6;
const actors: readonly Actor[] = ["A", "B"];
const start: State = {
  status: "pending", owner: undefined, fence: 0, believes: { A: undefined, B: undefined }, lapsed: { A: false, B: false }, announced: true, stop: undefined,
  pausedFrom: undefined, suspected: false,
};

/** What the table's fence word asks of the locked row, for an actor that moves it. */
function admits(state: State, { fence, from }: Transition, actor: Actor): boolean {
  if (!from.includes(state.status)) return false;
  switch (fence) {
    case "take": return state.owner === undefined && state.stop === undefined && !state.lapsed[actor];
    case "hold": case "drop": return state.owner === actor && state.believes[actor] === state.fence;
    case "lapsed": return state.owner !== undefined && state.lapsed[state.owner];
    case "suspected": return state.owner !== undefined && !state.suspected;
    case "seize": return true;
    case "none": return state.owner === undefined;
  }
}

/** The moves that the table allows in a state, by every actor, and what the world around does. */
function movesFrom(state: State, table: Table): Move[] {
  const moves: Move[] = [];
  if (isTerminal(state.status)) return moves;
  for (const [verb, transition] of Object.entries(table)) {
    for (const actor of actors) {
      if (transition.from.length === 0 || !admits(state, transition, actor)) continue;
      if (verb === "enforceStop" && state.stop === undefined) continue;
      if (["pause", "pauseUnheld"].includes(verb) && state.stop !== undefined) continue; // it is a conflict
      if (verb === "bury" && state.stop === "cancel") continue; // answered "stopping"
      if ((verb === "complete" || verb === "park" || verb === "retry") && state.stop !== undefined) continue; // answered "stopping", or paused instead
      if (verb === "stop" && state.stop !== "cancel") continue;
      if (verb === "pauseHeld" && state.stop !== "pause") continue; // taken back: the run stays held
      for (const to of transition.to) {
        const status = to === "same" ? state.status : to;
        // a stop that was asked for is honoured first by whatever takes the run away from its holder
        if (["handBack", "takeOver", "suspect", "enforceStop"].includes(verb) && !honours(state.stop, status)) continue;
        if (verb === "unpause" && status !== state.pausedFrom) continue;
        moves.push({ verb: `${verb} by ${actor}`, to: moved(state, { actor, status, transition, verb }) });
      }
    }
  }
  for (const actor of actors) if (!state.lapsed[actor]) moves.push({ verb: `${actor} lapses`, to: { ...state, lapsed: { ...state.lapsed, [actor]: true } } });
  if (state.owner !== undefined) {
    if (state.stop !== "cancel") moves.push({ verb: "a cancel is asked for", to: { ...state, stop: "cancel" } });
    if (state.stop === undefined) moves.push({ verb: "a pause is asked for", to: { ...state, stop: "pause" } });
    if (state.stop === "pause") moves.push({ verb: "the pause is taken back", to: { ...state, stop: undefined } });
  }
  return moves;
}

const honours = (stop: State["stop"], status: RunStatus): boolean =>
  stop === "cancel" ? status === "cancelled" : stop === "pause" ? status === "paused" : status !== "cancelled" && status !== "paused";

function moved(state: State, { actor, status, transition, verb }: { actor: Actor; status: RunStatus; transition: Transition; verb: string }): State {
  const { fence, announces } = transition;
  const raises = ["take", "drop", "lapsed", "suspected", "seize"].includes(fence) || (fence === "none" && verb !== "accept");
  const next = state.fence + (raises ? 1 : 0);
  const takes = fence === "take";
  const keeps = fence === "hold" && !isTerminal(status) && status === "running";
  return {
    ...state, status, fence: next,
    owner: takes ? actor : keeps ? state.owner : undefined,
    believes: takes ? { ...state.believes, [actor]: next } : state.believes,
    announced: takes || keeps ? false : announces,
    stop: status === "paused" ? undefined : state.stop,
    // a parked run is paused in what it was parked in; the model parks and pauses apart
    pausedFrom: status === "paused" ? state.status : undefined,
    suspected: state.suspected || fence === "suspected",
  };
}

/** Every reachable state with the moves out of it; fences are bounded so that the walk ends. */
function explore(table: Table): Map<string, { state: State; moves: Move[] }> {
  const known = new Map<string, { state: State; moves: Move[] }>();
  const open: State[] = [start];
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    const key = JSON.stringify(state);
    if (known.has(key)) continue;
    const moves = movesFrom(state, table).filter(({ to }) => to.fence <= MOST_FENCE);
    known.set(key, { state, moves });
    open.push(...moves.map(({ to }) => to));
  }
  return known;
}

/** States that nobody would ever look at again. */
function forgotten(table: Table): State[] {
  return [...explore(table).values()].map(({ state }) => state)
    .filter(({ status, owner, announced }) => !isTerminal(status) && status !== "paused" && owner === undefined && !announced);
}

test("two stale actors reach no state without an owner, a due time, an announcement or a named need", () => {
  expect(explore(transitions).size).toBeGreaterThan(1_000);
  expect(forgotten(transitions)).toEqual([]);
});

test("from every state of a lapsed owner some move of the fleet is open", () => {
  const stuck = [...explore(transitions).values()].filter(({ state, moves }) =>
    state.owner !== undefined && state.lapsed[state.owner] && state.fence < MOST_FENCE && !moves.some(({ verb }) => verb.startsWith("takeOver")));
  expect(stuck).toEqual([]);
});

test("an actor whose belief is stale has no write: only the owner under the current fence moves a held run by its word", () => {
  for (const { state } of explore(transitions).values()) {
    for (const actor of actors) {
      if (state.owner === actor && state.believes[actor] === state.fence) continue;
      for (const transition of Object.values(transitions as Table)) {
        if (transition.fence === "hold" || transition.fence === "drop") expect(admits(state, transition, actor)).toBe(false);
      }
    }
  }
});

test("a pause is never honoured by a holder that was told it is taken back, and a paused run goes on only by a resume, a cancel or its deadline", () => {
  const states = [...explore(transitions).values()];
  expect(states.some(({ state }) => state.status === "paused")).toBe(true);
  for (const { state, moves } of states) {
    if (state.status === "paused" && state.fence < MOST_FENCE) {
      expect(state.owner).toBeUndefined();
      expect(moves.filter(({ to }) => to.status !== "paused").map(({ verb }) => verb.split(" ")[0]).sort().filter((verb, i, all) => verb !== all[i - 1]))
        .toEqual(["cancel", "enforceDeadline", "unpause"]);
    }
    if (state.owner !== undefined && state.stop === undefined) expect(moves.filter(({ to }) => to.status === "paused")).toEqual([]);
  }
});

test("a cancel that was asked for ends the run, whoever holds it and whatever else was asked before", () => {
  for (const { state, moves } of explore(transitions).values()) {
    if (state.stop === "cancel") expect(moves.filter(({ to }) => to.status === "paused" || to.stop === "pause")).toEqual([]);
  }
});

test("a fence never falls, and every change of holder raises it", () => {
  for (const { state, moves } of explore(transitions).values()) {
    for (const { to, verb } of moves) {
      expect(to.fence, verb).toBeGreaterThanOrEqual(state.fence);
      if (to.owner !== state.owner && !isTerminal(to.status) && to.status !== "paused") expect(to.fence, verb).toBeGreaterThan(state.fence);
    }
  }
});

test("nothing moves a run that has ended", () => {
  const ended = [...explore(transitions).values()].filter(({ state }) => isTerminal(state.status));
  expect(ended.length).toBeGreaterThan(0);
  expect(ended.every(({ moves }) => moves.length === 0)).toBe(true);
});

test("the model notices when a releasing move forgets to announce", () => {
  for (const verb of ["handBack", "takeOver", "suspect", "park", "retry", "unpause"] as const) {
    const broken = { ...transitions, [verb]: { ...transitions[verb], announces: false } } as Table;
    expect(forgotten(broken).length, verb).toBeGreaterThan(0);
  }
});
