import { readFileSync } from "node:fs";

const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string };

/** The release that this code belongs to: all packages bear one version. */
export const version: string = manifest.version;
