import path from "node:path";
import { fileURLToPath } from "node:url";
import { startFleet } from "@mainstay/fleet";
import { paths } from "../paths.mjs";
import { choosePort } from "./choose-port.mjs";

const loopback = "127.0.0.0/8,::1/128";

/** Api, relay, two workers and a supervisor as children, on these services; answers `{ fleet, egressAllow, logFolder }`. */
export async function startDemoFleet({ databaseUrl, redisUrl, broker }) {
  const egressAllow = [process.env.MAINSTAY_EGRESS_ALLOW, loopback].filter(Boolean).join(",");
  const logFolder = path.join(paths.data, "logs");
  const fleet = await startFleet({
    env: {
      ...process.env,
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      MAINSTAY_BROKER: broker,
      MAINSTAY_WORKFLOWS: fileURLToPath(new URL("./order.mjs", import.meta.url)),
      MAINSTAY_EGRESS_ALLOW: egressAllow,
    },
    apiPort: await choosePort(process.env.MAINSTAY_PORT),
    logFolder,
  });
  return { fleet, egressAllow, logFolder };
}
