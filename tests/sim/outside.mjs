/** Mutants whose guard no step of the simulation can reach, each with the reason. */
export const outside = {};
