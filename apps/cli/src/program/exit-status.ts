/** What the shell is told. `0` done; the help of every command lists these. */
export const exitStatus = {
  done: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  notAuthorised: 4,
  conflict: 5,
  unavailable: 6,
  runFailed: 7,
  runCancelled: 8,
  waitedTooLong: 9,
  interrupted: 130,
} as const;

/** One of the exit statuses. */
export type ExitStatus = (typeof exitStatus)[keyof typeof exitStatus];

/** The exit statuses as `--help` shows them. */
export const exitStatusHelp = `
Exit status:
  0 done · 1 error · 2 usage · 3 not found · 4 not authorised · 5 conflict · 6 unavailable, try again
  7 the awaited run failed · 8 the awaited run was cancelled · 9 waited too long · 130 interrupted`;
