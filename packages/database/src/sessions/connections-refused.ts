/** A process cannot work over these connections; the message says what was seen and what to do. It bears no address. */
export class ConnectionsRefused extends Error {
  override readonly name = "ConnectionsRefused";
}

/** What comes through the address of the working pool is not kept. */
export const betweenPool =
  "DATABASE_URL leads through a pooler: what belongs to a session, its settings and prepared statements, is not kept. " +
  "Set MAINSTAY_DATABASE_POOLER=transaction, and DATABASE_DIRECT_URL to an address past the pooler";
/** The direct address is none. */
export const betweenDirect =
  "DATABASE_DIRECT_URL (DATABASE_URL where it is not set) leads through a pooler: lifelines, LISTEN and migrations belong to a session of the server itself. " +
  "Set DATABASE_DIRECT_URL to an address past the pooler";
