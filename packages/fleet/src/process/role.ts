/** The roles that run as processes of a fleet. */
export const roles = ["api", "relay", "worker", "supervisor"] as const;

/** One of the roles. */
export type Role = (typeof roles)[number];
