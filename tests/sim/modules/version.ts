/** In the place of the config room's: the simulation reports no build. */
export const version = "0.0.0-sim";
