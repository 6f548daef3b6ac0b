/** What the work path needs to know of this process's liveness; the incarnation changes when the old one has lapsed. */
export type Life = {
  incarnation: () => string;
  /** The work path has just reached the database through the working pool. */
  attest: () => void;
  /** Monotonic milliseconds (`performance.now()`) until which no peer can have lapsed this incarnation. */
  validUntil: () => number;
};
