import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { findBinaries } from "../../infra/dev/postgres/find-binaries.mjs";
import { Problem } from "../../infra/dev/problem.mjs";
import { installRedis } from "../../infra/dev/redis/install-redis.mjs";
import { findRedisProgram } from "../../infra/dev/redis/start-redis.mjs";
import { say } from "../../infra/dev/say.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));

/** The names of the two images; they are made here, so that no registry is needed. */
export const images = { postgres: "mainstay-local/postgres:1", redis: "mainstay-local/redis:1" };

/** Makes the images that the engine does not have yet, from this machine's programs through `docker import`. */
export async function makeImages(environment) {
  const docker = { env: { ...process.env, ...environment } };
  const present = (image) => spawnSync("docker", ["image", "inspect", image], docker).status === 0;
  if (!present(images.postgres)) await makePostgres(docker);
  if (!present(images.redis)) makeRedis(docker);
}

async function makePostgres(docker) {
  const found = await findBinaries({});
  if (!found) throw new Problem("no Postgres programs to make an image of: run npm ci");
  const native = path.dirname(found.bin);
  const programs = ["postgres", "initdb"].map((name) => path.join(found.bin, name));
  importImage(docker, images.postgres, (root) => {
    fs.cpSync(native, path.join(root, "pg"), { recursive: true, verbatimSymlinks: true });
    copyLibraries(root, programs, native);
    fs.mkdirSync(path.join(root, "data"));
    fs.chownSync(path.join(root, "data"), 999, 999);
    fs.copyFileSync(path.join(here, "images/start-postgres.sh"), path.join(root, "start"));
  }, ["USER 999:999", "EXPOSE 5432"]);
}

function makeRedis(docker) {
  const program = findRedisProgram() ?? (installRedis() ? findRedisProgram() : undefined);
  if (!program) throw new Problem("no redis-server to make an image of: apt-get install redis-server");
  importImage(docker, images.redis, (root) => {
    const real = fs.realpathSync(program);
    fs.copyFileSync(real, path.join(root, "redis-server"));
    copyLibraries(root, [real]);
    fs.copyFileSync(path.join(here, "images/start-redis.sh"), path.join(root, "start"));
  }, ["EXPOSE 6379"]);
}

function importImage(docker, image, fill, changes) {
  say(`making the image ${image}`);
  const root = fs.mkdtempSync(path.join(os.tmpdir(), "mainstay-image-"));
  try {
    for (const folder of ["bin", "tmp", "etc"]) fs.mkdirSync(path.join(root, folder));
    fs.chmodSync(path.join(root, "tmp"), 0o1777);
    fs.writeFileSync(path.join(root, "etc/passwd"), "root:x:0:0::/:/bin/sh\npostgres:x:999:999::/data:/bin/sh\n");
    const tools = ["sh", "cat", "mkdir", "chmod"].map((name) => fs.realpathSync(`/bin/${name}`));
    for (const [i, name] of ["sh", "cat", "mkdir", "chmod"].entries()) fs.copyFileSync(tools[i], path.join(root, "bin", name));
    copyLibraries(root, tools);
    fill(root);
    fs.chmodSync(path.join(root, "start"), 0o755);
    fs.chmodSync(root, 0o755);
    const tar = spawnSync("tar", ["-C", root, "-cf", `${root}.tar`, "."], { encoding: "utf8" });
    if (tar.status !== 0) throw new Error(`tar failed: ${tar.stderr}`);
    const flags = [...changes, 'ENTRYPOINT ["/bin/sh", "/start"]', "ENV PATH=/bin:/pg/bin"].flatMap((change) => ["--change", change]);
    execFileSync("docker", ["import", ...flags, `${root}.tar`, image], { ...docker, stdio: ["ignore", "ignore", 2] });
  } finally {
    fs.rmSync(root, { recursive: true, force: true });
    fs.rmSync(`${root}.tar`, { force: true });
  }
}

/** Copies what the programs load, the loader too, to the same places; what lies under `except` is there already. */
function copyLibraries(root, programs, except = "/nowhere") {
  for (const program of programs) {
    const said = execFileSync("ldd", [program], { encoding: "utf8" });
    for (const [, library] of said.matchAll(/(?:=> )?(\/\S+) \(0x/g)) {
      const target = path.join(root, library);
      if (path.resolve(library).startsWith(except) || fs.existsSync(target)) continue;
      fs.mkdirSync(path.dirname(target), { recursive: true });
      fs.copyFileSync(fs.realpathSync(library), target);
      fs.chmodSync(target, 0o755);
    }
  }
}
