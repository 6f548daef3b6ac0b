import { Worker, type Job, type JobJson } from "bullmq";
import type { Redis } from "ioredis";

/** A fetched message: its text as it stood in Redis, and the two ways to be rid of it. */
export type FetchedTicket = Readonly<{
  raw: string;
  /** Removes it. */
  acknowledge(): Promise<void>;
  /** Gives it back to the queue, for anyone. */
  release(): Promise<void>;
}>;

/** Where messages are fetched from. */
export type TicketSource = Readonly<{ client: Redis; prefix: string; pool: string }>;

/** A lock of the broker's covers the milliseconds between fetch and acknowledgement. */
const lockDurationMs = 30_000;

/** Seconds that an empty queue is waited on before it is asked anew. */
const blockSeconds = 2;

/**
 * BullMQ's worker without a processor: messages are fetched by hand, one at a
 * time. Data that is no JSON must not throw inside the fetch, where the message
 * would be left locked, so the text is kept beside the message as it is.
 */
export class TicketWorker extends Worker<unknown, string> {
  readonly #raw = new WeakMap<Job, string>();
  readonly #client: Redis;
  #fetches = 0;

  constructor({ client, prefix, pool }: TicketSource) {
    super(pool, null, {
      connection: client,
      prefix,
      autorun: false,
      skipVersionCheck: true,
      skipLockRenewal: true,
      drainDelay: blockSeconds,
      lockDuration: lockDurationMs,
      stalledInterval: lockDurationMs,
      maxStalledCount: 1_000,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    });
    this.#client = client;
  }

  protected override createJob(data: JobJson, jobId: string): Job<unknown, string> {
    // A message somebody else wrote may lack any of its fields.
    const raw = (data as Partial<JobJson>).data ?? "";
    const job = super.createJob({ ...data, data: "{}", opts: "{}" } as unknown as JobJson, jobId);
    this.#raw.set(job, raw);
    return job;
  }

  /** The next message, waiting a little while the queue is empty; `undefined` when none came. */
  async fetch(): Promise<FetchedTicket | undefined> {
    const token = `${this.id}:${this.#fetches++}`;
    let job: Job<unknown, string> | undefined;
    try {
      job = await this.#next(token);
    } catch (error) {
      if (error instanceof SyntaxError) return this.#unreadable(token);
      throw error;
    }
    if (job === undefined) return undefined;
    return Object.freeze({
      raw: this.#raw.get(job) ?? "",
      acknowledge: async () => { await job.moveToCompleted("", token, false); },
      release: async () => { await job.moveToWait(token); },
    });
  }

  /** BullMQ's own types do not say that there may be no message. */
  #next(token: string): Promise<Job<unknown, string> | undefined> {
    return this.getNextJob(token, { block: true });
  }

  /**
   * The message that `token` locked and BullMQ could not read, because its
   * options are no JSON. Left alone it would come back for ever.
   */
  async #unreadable(token: string): Promise<FetchedTicket | undefined> {
    const client = this.#client;
    const active = this.toKey("active");
    for (const id of await client.lrange(active, 0, 99)) {
      const key = this.toKey(id);
      if ((await client.get(`${key}:lock`)) !== token) continue;
      const remove = async (): Promise<void> => {
        await client.multi().lrem(active, 1, id).del(key, `${key}:lock`).srem(this.toKey("stalled"), id).exec();
      };
      return Object.freeze({ raw: (await client.hget(key, "data")) ?? "", acknowledge: remove, release: remove });
    }
    return undefined;
  }
}
