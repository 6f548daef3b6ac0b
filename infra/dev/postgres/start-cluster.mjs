import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { freePort } from "../services/free-port.mjs";
import { chooseAccount, failure, runAs } from "./account.mjs";
import { findBinaries } from "./find-binaries.mjs";
import { makeHome, reachableHome, writeOwned } from "./home.mjs";

const settings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: 300,
  shared_buffers: "256MB",
  autovacuum_naptime: "10s", // outbox and heartbeats are small tables that change all the time
  shared_preload_libraries: "pg_stat_statements", // cannot be switched on later without a restart
  track_activity_query_size: 4096,
};

/**
 * Starts the cluster of `home`, or finds it running; it outlives this process and may be used by any number.
 * `home` holds cluster/, password and server.log. Call it under a lock per home. Answers undefined when this
 * machine has no Postgres programs; throws with the server's own words when they do not start. `environment` is added
 * to the server's own when it is started here.
 */
export async function startCluster({ home, port, portFrom = 54300, environment = {} }) {
  const account = chooseAccount(home);
  const found = await findBinaries(account);
  if (!found) return undefined;
  const place = reachableHome(home, account);
  const cluster = path.join(place, "cluster");
  const passwordFile = path.join(place, "password");

  makeHome(place, account);
  if (!fs.existsSync(passwordFile)) writeOwned(passwordFile, randomBytes(18).toString("base64url"), account);
  if (!fs.existsSync(cluster)) initialise({ bin: found.bin, cluster, passwordFile, account });
  const status = runAs(account, path.join(found.bin, "pg_ctl"), ["-D", cluster, "status"]);
  if (status.status !== 0) await launch({ bin: found.bin, place, account, port, portFrom, environment });

  const [pid, , , actualPort] = fs.readFileSync(path.join(cluster, "postmaster.pid"), "utf8").split("\n");
  const password = fs.readFileSync(passwordFile, "utf8").trim();
  const url = `postgres://postgres:${password}@127.0.0.1:${actualPort}/postgres`;
  return { url, port: Number(actualPort), pid: Number(pid), home: place, how: found.how };
}

/** Made under another name and then renamed, so that a cut-off initdb is never taken for a cluster. */
function initialise({ bin, cluster, passwordFile, account }) {
  const half = `${cluster}.new`;
  fs.rmSync(half, { recursive: true, force: true });
  const args = ["-D", half, "--username=postgres", "--auth=scram-sha-256", `--pwfile=${passwordFile}`];
  const made = runAs(account, path.join(bin, "initdb"), [...args, "--encoding=UTF8", "--locale=C"]);
  if (made.status !== 0) throw failure("initdb", made);
  const lines = Object.entries(settings).map(([key, value]) => `${key} = '${value}'\n`);
  fs.appendFileSync(path.join(half, "postgresql.conf"), lines.join(""));
  fs.renameSync(half, cluster);
}

async function launch({ bin, place, account, port, portFrom, environment }) {
  const log = path.join(place, "server.log");
  for (let tries = 1; ; tries++) {
    const wanted = port ?? (await freePort(portFrom));
    const args = ["-D", path.join(place, "cluster"), "-l", log, "-w", "-t", "60", "-o", `-p ${wanted}`, "start"];
    fs.rmSync(log, { force: true });
    const started = runAs(account, path.join(bin, "pg_ctl"), args, environment);
    if (started.status === 0) return;
    const said = fs.existsSync(log) ? fs.readFileSync(log, "utf8") : "";
    const lostTheRace = port === undefined && tries < 5 && said.includes("Address already in use");
    if (!lostTheRace) throw failure(`pg_ctl start on port ${wanted}`, started, said);
  }
}
