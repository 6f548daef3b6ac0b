/** Most runs that one ticket names. */
export const mostRuns = 32;

/** The name of every BullMQ message of ours. It names no run and is unique to nothing. */
export const ticketName = "ticket";

/** What a ticket carries: the database ids of runs worth a look. */
export type Ticket = { runs: string[] };

/**
 * A ticket has no id of ours, leaves nothing behind however it ends, and is
 * tried once: whether it repeats or vanishes, only a claim admits (H18).
 */
export const ticketOptions = { attempts: 1, removeOnComplete: true, removeOnFail: true } as const;
