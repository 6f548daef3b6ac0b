import { fileURLToPath } from "node:url";

/** The clone's root, without a slash at its end. */
export const repository = fileURLToPath(new URL("../../../..", import.meta.url)).replace(/\/$/, "");
