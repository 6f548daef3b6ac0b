const economy = "a lane is leased so that one works it, not so that its work is safe: each of its statements is guarded by itself, and two holders at once break no law";

/** Mutants whose guard no step of the simulation can reach, each with the reason. */
export const outside = {
  "parking does not look at the inbox":
    "today nothing raises inbox_seq of a run that is held: a settlement wakes only runs that nobody holds, and a claim reads the number under the row's lock; the guard is for wake-ups to come",
  "a lane's lease that is over stops nobody": economy,
  "an old answer gives a lane": economy,
  "a date to wait for is counted from this machine's clock":
    "it reads the Date and Retry-After of an HTTP answer; the world of the simulation speaks no HTTP",
};
