import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import os from "node:os";
import path from "node:path";
import { until } from "@mainstay/testing";

/** An nginx as it comes, buffering and a 60-s idle limit included, in front of one address. */
export async function startNginx(program: string, upstream: string): Promise<{ url: string; stop: () => Promise<void> }> {
  const folder = mkdtempSync(path.join(os.tmpdir(), "mainstay-nginx-"));
  const port = await freePort();
  const places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name};`).join(" ");
  writeFileSync(path.join(folder, "nginx.conf"), `
    daemon off; pid ${folder}/pid; error_log ${folder}/error.log; worker_processes 1; ${process.getuid?.() === 0 ? "user root;" : ""}
    events { worker_connections 256; }
    http { access_log off; ${places}
      server { listen 127.0.0.1:${String(port)}; location / { proxy_pass ${upstream}; } } }`);
  const child = spawn(program, ["-p", folder, "-c", path.join(folder, "nginx.conf"), "-e", path.join(folder, "error.log")], { stdio: "ignore" });
  const exited = new Promise<void>((resolve) => child.once("close", () => { resolve(); }));
  const url = `http://127.0.0.1:${String(port)}`;
  await until("nginx to answer", async () => (await fetch(`${url}/health/live`)).ok);
  return {
    url,
    async stop() {
      child.kill("SIGTERM");
      await exited;
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
