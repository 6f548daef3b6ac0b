import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import os from "node:os";
import path from "node:path";
import { until } from "@mainstay/testing";
import pg from "pg";

/** A pooler in front of a server. */
export type Pgbouncer = Readonly<{
  /** The same database by the same login, through the pooler. */
  through: (url: string) => string;
  /** SIGKILL: every connection through it is gone. */
  kill: () => Promise<void>;
  /** On the same port again, after `kill`. */
  start: () => Promise<void>;
  stop: () => Promise<void>;
}>;

/** How it is set up. */
export type PgbouncerOptions = Readonly<{
  serverUrl: string;
  /** What it gives a client a server's session for; default `transaction`. */
  mode?: "transaction" | "session";
  /** `on`: it keeps statements that clients prepare (max_prepared_statements). */
  prepared?: "off" | "on";
  /** Start-up parameters that it drops in silence; it refuses others that it does not know. */
  dropped?: readonly string[];
}>;

/** `[major, minor]` of the program. It can keep prepared statements from 1.21 on. */
export function versionOf(program: string): readonly [number, number] {
  const [, major = "0", minor = "0"] = /PgBouncer (\d+)\.(\d+)/.exec(spawnSync(program, ["--version"], { encoding: "utf8" }).stdout) ?? [];
  return [Number(major), Number(minor)];
}

/** Starts it on a free port. Any client is let in, under the login of `serverUrl`. */
export async function startPgbouncer(program: string, { serverUrl, mode = "transaction", prepared = "off", dropped = [] }: PgbouncerOptions): Promise<Pgbouncer> {
  const folder = mkdtempSync(path.join(os.tmpdir(), "mainstay-pgbouncer-"));
  chmodSync(folder, 0o755); // it refuses to run as root, and reads this as another
  const file = path.join(folder, "pgbouncer.ini");
  const { hostname, port: serverPort, username, password } = new URL(serverUrl);
  const port = await freePort();
  writeFileSync(file, `[databases]
* = host=${hostname} port=${serverPort} user=${decodeURIComponent(username)} password=${decodeURIComponent(password)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${String(port)}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = 20
max_client_conn = 500
server_login_retry = 1
${dropped.length > 0 ? `ignore_startup_parameters = ${dropped.join(",")}\n` : ""}${prepared === "on" ? "max_prepared_statements = 200\n" : ""}`, { mode: 0o644 });
  const through = (url: string): string => {
    const led = new URL(url);
    led.hostname = "127.0.0.1";
    led.port = String(port);
    return String(led);
  };
  let child: ChildProcess | undefined;
  let said = "";
  const start = async (): Promise<void> => {
    const started = spawn(program, [...(process.getuid?.() === 0 ? ["-u", "nobody"] : []), file], { stdio: ["ignore", "ignore", "pipe"] });
    child = started;
    started.stderr.on("data", (chunk: Buffer) => { said = (said + chunk.toString()).slice(-2_000); });
    await until("pgbouncer to answer", async () => {
      if (started.exitCode !== null) throw new Error(`it ended: ${said}`);
      const client = new pg.Client({ connectionString: through(serverUrl) });
      await client.connect();
      await client.end();
      return true;
    });
  };
  const kill = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child?.once("exit", resolve));
    child.kill("SIGKILL");
    await gone;
  };
  await start();
  return {
    through, kill, start,
    async stop() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
