import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { chooseAccount } from "./account.mjs";
import { makeHome, reachableHome } from "./home.mjs";

/**
 * Copies the stopped cluster of `from` into `home` as its hot standby: it follows the server at `primaryUrl` from its next
 * start on, asks for no password that the primary does not have, and serves reads until it is promoted.
 */
export function makeStandby({ from, home, primaryUrl }) {
  const account = chooseAccount(from);
  const [source, place] = [reachableHome(from, account), reachableHome(home, account)];
  if (fs.existsSync(path.join(source, "cluster/postmaster.pid"))) throw new Error(`${source} runs: stop it before it is copied`);
  makeHome(place, account);
  for (const name of ["cluster", "password"]) execFileSync("cp", ["-a", path.join(source, name), path.join(place, name)]);
  const { hostname, port, username, password } = new URL(primaryUrl);
  const conninfo = `host=${hostname} port=${port} user=${username} password=${password} application_name=standby`;
  fs.appendFileSync(path.join(place, "cluster/postgresql.conf"), `primary_conninfo = '${conninfo}'\n`);
  const signal = path.join(place, "cluster/standby.signal");
  fs.writeFileSync(signal, "");
  if (account.uid !== undefined) fs.chownSync(signal, account.uid, account.gid);
}
