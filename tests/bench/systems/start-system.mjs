import { startMainstay } from "./start-mainstay.mjs";
import { startPeer } from "./start-peer.mjs";

/** Every system of the bench: `label` in tables, `floor` where ratios are taken. pg-boss counts by its better variant. */
export const systems = [
  { label: "mainstay", name: "mainstay" },
  { label: "bullmq", name: "bullmq", peer: "bullmq" },
  { label: "pg-boss poll", name: "pg-boss", variant: "poll", peer: "pgboss" },
  { label: "pg-boss tuned", name: "pg-boss", variant: "tuned", peer: "pgboss" },
  { label: "graphile", name: "graphile", peer: "graphile" },
];

/** Starts one of them with that many workers. */
export const startSystem = (system, options) => (system.name === "mainstay" ? startMainstay(options) : startPeer({ ...system, ...options }));
