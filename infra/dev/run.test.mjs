import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const file = fileURLToPath(new URL("./run.mjs", import.meta.url));

test("a Node that is too old is told which one is needed, before anything else is loaded", () => {
  const source = fs.readFileSync(file, "utf8").replaceAll("process.versions.node", "'18.19.1'");
  const old = spawnSync(process.execPath, ["--input-type=module", "-e", source], { encoding: "utf8" });
  expect(old.status).toBe(1);
  expect(old.stderr).toContain("mainstay needs Node 20.20.2 or later, this is 18.19.1");
});

test("a script that does not exist is named", () => {
  const none = spawnSync(process.execPath, [file, "../run"], { encoding: "utf8" });
  expect(none.status).toBe(1);
  expect(none.stderr).toContain("no script ../run");
});
