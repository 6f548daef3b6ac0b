import { lapseIncarnations, type Lapsed, type Session } from "@mainstay/database";
import { monotonicMs } from "../board/monotonic.js";
import type { Suspect } from "../witness/create-witness.js";

export type LapserOptions = {
  heartbeatMs: number;
  /** Of the heartbeat's session: a sighting over one session counts for nothing over the next (rule H9). */
  generation: () => number;
  /** This incarnation is itself within its validity. */
  valid: () => boolean;
  session: () => Session | undefined;
  onLapsed: (lapsed: readonly Lapsed[]) => void;
  onFailure: (error: unknown) => void;
};

export type Lapser = {
  /** All silent peers as the last beat showed them; replaces what was waited for. */
  await: (suspects: readonly Suspect[]) => void;
  stop: () => void;
};

/** Lapses each silent peer at its instant, not a heartbeat later; the statement itself checks that no beat came since. */
export function createLapser(options: LapserOptions): Lapser {
  let timer: NodeJS.Timeout | undefined;
  const lapse = async (due: readonly Suspect[], generation: number): Promise<void> => {
    const session = options.session();
    if (session === undefined || generation !== options.generation() || !options.valid()) return;
    try {
      const lapsed = await lapseIncarnations(session, { seen: due, heartbeatMs: options.heartbeatMs });
      if (lapsed.length > 0) options.onLapsed(lapsed);
    } catch (error) {
      options.onFailure(error);
    }
  };
  const plan = (suspects: readonly Suspect[], generation: number): void => {
    clearTimeout(timer);
    const [first] = [...suspects].sort((a, b) => a.atMs - b.atMs);
    if (first === undefined) return;
    timer = setTimeout(() => {
      const now = monotonicMs();
      const due = suspects.filter(({ atMs }) => atMs <= now);
      plan(suspects.filter(({ atMs }) => atMs > now), generation);
      if (due.length > 0) void lapse(due, generation);
    }, Math.max(1, Math.ceil(first.atMs - monotonicMs()) + 1));
  };
  return {
    await: (suspects) => plan(suspects, options.generation()),
    stop: () => clearTimeout(timer),
  };
}
