/** What the probes ask of this process. */
export type ProcessHealth = Readonly<{
  /** False: the process cannot do its work any more and is better ended. */
  live: () => boolean;
  /** False: send no requests here now. */
  ready: () => boolean;
  /** True once everything that a start needs has been done. */
  started: () => boolean;
}>;
