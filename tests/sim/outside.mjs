/** Mutants whose guard no step of the simulation can reach, each with the reason. */
export const outside = {
  "parking does not look at the inbox":
    "today nothing raises inbox_seq of a run that is held: a settlement wakes only runs that nobody holds, and a claim reads the number under the row's lock; the guard is for wake-ups to come",
};
