import type { Chance } from "../world/chance.js";
import { currentProcess, deliver } from "../world/process.js";
import type { Time } from "../world/time.js";

/** One request of one launch, as the outside world answers it. */
export type Request = Readonly<{ identity: string; launch: number; unsafe: boolean; keyed: boolean; signal: AbortSignal }>;

/** The outside world: it keeps what it did for each identity, for ever or as long as it remembers keys. */
export type OutsideWorld = {
  /** Acts, refuses, breaks or stays silent, as the seed wants it. */
  request: (request: Request) => Promise<{ receipt: string }>;
  /** Whether it acted on an identity; undefined: it does not say. */
  ask: (identity: string) => Promise<{ happened: true; result: { receipt: string } } | { happened: false } | undefined>;
  actsOf: (identity: string) => number;
  /** How often it acted twice where it must not. */
  doubles: () => string[];
};

/** What shares of requests it refuses, leaves without an answer or breaks, and who hears of each that leaves. */
export type OutsideWeather = Readonly<{ refuse: number; silent: number; broken: number; leaves: (identity: string, launch: number) => void }>;

export function createOutsideWorld(chance: Chance, time: Time, weather: OutsideWeather): OutsideWorld {
  const acts = new Map<string, number>();
  const doubles: string[] = [];
  const act = ({ identity, unsafe }: Request): void => {
    const before = acts.get(identity) ?? 0;
    if (before > 0 && !unsafe) return; // it knows the key
    acts.set(identity, before + 1);
    if (before > 0) doubles.push(identity);
  };
  const answered = (identity: string) => ({ receipt: identity.slice(0, 12) });
  return {
    actsOf: (identity) => acts.get(identity) ?? 0,
    doubles: () => [...doubles],
    request: (request) => new Promise((resolve, reject) => {
      const owner = currentProcess();
      weather.leaves(request.identity, request.launch);
      const fail = (fields: object): void => { reject(Object.assign(new Error("the request failed"), fields)); };
      // code that does not heed its signal hears the answer late: evidence all the same
      if (chance.flip(0.6)) request.signal.addEventListener("abort", () => { fail({ name: "AbortError" }); }, { once: true });
      const arrivesMs = 1 + chance.below(30);
      const lot = chance.next();
      const { refuse, silent, broken } = weather;
      // what was written to the socket arrives whatever becomes of its sender
      time.after(arrivesMs, () => {
        const backMs = 1 + chance.below(chance.flip(0.1) ? 4_000 : 60);
        const tell = (give: () => void): void => { time.after(backMs, () => { deliver(owner, give); }); };
        if (lot < refuse) { tell(() => { fail({ status: 429 }); }); return; }
        if (lot < refuse + silent) { if (chance.flip(0.6)) act(request); return; }
        if (lot < refuse + silent + broken) {
          if (chance.flip(0.6)) act(request);
          tell(() => { fail({ status: 500 }); });
          return;
        }
        act(request);
        tell(() => { resolve(answered(request.identity)); });
      });
    }),
    ask: async (identity) => {
      if (chance.flip(0.25)) return undefined;
      return (acts.get(identity) ?? 0) > 0 ? { happened: true, result: answered(identity) } : { happened: false };
    },
  };
}
