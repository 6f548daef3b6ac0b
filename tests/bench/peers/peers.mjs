/** The systems beside us by name; each is loaded where it is used. */
export const peers = {
  bullmq: async () => (await import("./bullmq.mjs")).bullmq,
  "pg-boss": async () => (await import("./pg-boss.mjs")).pgBoss,
  graphile: async () => (await import("./graphile.mjs")).graphile,
};
