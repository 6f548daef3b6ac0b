#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { readConfig } from "@mainstay/config";
import { runProgram } from "./program/run-program.js";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string };
const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => { interrupted.abort(new Error(`interrupted by ${signal}`)); });
}

process.exitCode = await runProgram(process.argv.slice(2), {
  out: (data) => { process.stdout.write(data); },
  err: (message) => { process.stderr.write(message); },
  config: () => readConfig("cli", process.env),
  env: process.env,
  interrupted: interrupted.signal,
  readInput: () => text(process.stdin),
}, version);
