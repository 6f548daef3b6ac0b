/**
 * The first keys of the advisory locks that an incarnation's sessions hold for as long as they last: `lifeline` on the
 * session the death watch waits for, `pulse` on the heartbeat's. The second key is the incarnation's `lifeline` number.
 */
export const lifelineClasses = { lifeline: 5067604, pulse: 5067605 } as const;

/** The second key, from a bigint expression: it must fit an int4. */
export const lockKey = (expression: string): string => `(${expression} % 2147483647)::int`;
