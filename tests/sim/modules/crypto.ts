import { theWorld } from "../world/world.js";

export { createHash, randomBytes, createHmac, timingSafeEqual } from "node:crypto";

/** In the place of Node's: identities come from the seed. */
export const randomUUID = (): string => theWorld().chance.uuid();
