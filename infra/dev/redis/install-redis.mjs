import { installPackages } from "../packages/install-packages.mjs";
import { say } from "../say.mjs";

/** Installs Debian's redis-server, announced; false when apt could not. The service it brings is not started. */
export function installRedis() {
  say("no Redis found: installing Debian's with apt-get install redis-server (about half a minute, once)");
  return installPackages(["redis-server"]);
}
