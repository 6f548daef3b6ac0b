/** A program or library of the machine that some cases need: where it may lie and how Debian calls it. */
export type ToolPlace = Readonly<{
  /** The packages of Debian that bring it. */
  packages: readonly [string, ...string[]];
  /** Its absolute path on this machine, when it is there. */
  find: () => string | undefined;
}>;
