/** What main and the heartbeat thread see of each other without a message: instants of the system-wide monotonic clock. */
export type Board = {
  readonly buffer: SharedArrayBuffer;
  get: (field: BoardField) => bigint;
  set: (field: BoardField, value: bigint) => void;
};

/**
 * `attested`: the work path last reached the database. `looped`: main's event loop last came round. `validUntil`: no
 * peer can have lapsed this incarnation before. All in nanoseconds of `process.hrtime`; 0: never.
 */
export type BoardField = "attested" | "looped" | "validUntil";

const fields = { attested: 0, looped: 1, validUntil: 2 } as const satisfies Record<BoardField, number>;

/** Lays the board over shared memory; without a buffer, over a new one. */
export function openBoard(buffer = new SharedArrayBuffer(8 * Object.keys(fields).length)): Board {
  const slots = new BigInt64Array(buffer);
  return {
    buffer,
    get: (field) => Atomics.load(slots, fields[field]),
    set: (field, value) => { Atomics.store(slots, fields[field], value); },
  };
}
