import { isTransient, tookTooLong } from "../errors.js";

/** The row could not be locked without waiting; it rides a later flush. */
export const busy = Symbol("busy");

/** A batcher: call it with an item, get the item's own answer. */
export type GroupCommit<Item, Answer> = {
  /** Rejects with the statement's error once the item has failed alone, or when `giveUpMs` of retries are over. */
  (item: Item): Promise<Answer>;
  /** Resolves when nothing waits and nothing is under way. */
  idle: () => Promise<void>;
  /** Items that wait or are under way. */
  depth: () => number;
};

/** What whoever opens a verb's batcher says of it. Times in milliseconds. */
export type BatcherOptions = {
  /** How long after its arrival transient errors and `busy` are retried for an item. */
  giveUpMs: number;
  /**
   * After a flush of more than one row the next one waits so long for company, or until 16 rows wait: a statement
   * costs the database much the same, whatever it carries. An idle batcher still flushes at once. Default 0.
   */
  lingerMs?: number | undefined;
  onFlush?: ((op: string, rows: number) => void) | undefined;
};

/** What a batcher is made of. */
export type GroupCommitOptions<Item, Row, Answer> = BatcherOptions & {
  /** Closed set: accept, claim, checkpoint, effect, end, key. A metric's label. */
  op: string;
  /** Items of one key become one row, and a key has at most one row under way. `undefined`: a row of its own. */
  keyOf?: (item: Item) => string | undefined;
  /** Makes one row of all waiting items of a key. Called once for a row: a repeat sends the same row again. */
  merge: (items: readonly [Item, ...Item[]]) => Row;
  /** Sends the rows in one statement; answers in their order. Each answer goes to every item of its row. */
  flush: (rows: readonly Row[]) => Promise<readonly (Answer | typeof busy)[]>;
  sizeOf?: (row: Row) => number;
  /** Bytes of one item. Of one key's items those that weigh `maxBytes / 4` together, and at least one, become a row; the rest ride the next. */
  itemSizeOf?: (item: Item) => number;
  maxRows?: number;
  maxBytes?: number;
};

type Waiting<Item, Answer> = { item: Item; since: number; resolve: (answer: Answer) => void; reject: (error: unknown) => void };
type Entry<Item, Row, Answer> = {
  key: string | undefined; row: Row; bytes: number; waiting: Waiting<Item, Answer>[];
  goes: number; alone: boolean; readyAt: number; giveUpAt: number;
};

/** After so many `busy` answers a row goes alone. */
const BUSY_BEFORE_ALONE = 3;
/** Of one key's items at most so many become one row: what a row does is bounded, however much ended in one tick. */
const MOST_ITEMS = 1_000;
/** Rows that wait for no more company. */
const ENOUGH_ROWS = 16;

/**
 * Natural group commit: while a flush is under way what arrives waits for the next one. An idle batcher flushes at
 * once, a busy one waits `lingerMs` for company. At most one flush is under way.
 *
 * Rows are answered one by one. A transient error (contention, lost connection) sends the same rows again with
 * jitter, fewer together after a statement that took too long; any other error halves the batch until the guilty row is
 * alone and rejects only that one. Every row must
 * bear an identity minted before its first try, so that a repeat after a lost reply changes nothing. Rule H13.
 */
export function createGroupCommit<Item, Row, Answer>(options: GroupCommitOptions<Item, Row, Answer>): GroupCommit<Item, Answer> {
  const { op, keyOf, merge, flush, sizeOf, itemSizeOf, maxRows = 512, maxBytes = 4 * 1024 * 1024, lingerMs = 0, giveUpMs, onFlush } = options;
  const arrived = new Map<string | symbol, { key: string | undefined; waiting: Waiting<Item, Answer>[] }>();
  const again: Entry<Item, Row, Answer>[] = [];
  const frozenKeys = new Set<string>();
  /** Rows in one flush at present: halved when a statement took too long, doubled again as they go through. */
  let mostRows = maxRows;
  let flying = false;
  let scheduled = false;
  let timer: NodeJS.Timeout | undefined;
  /** Set while a busy batcher waits for company. */
  let lingering: NodeJS.Timeout | undefined;
  let idlers: (() => void)[] = [];

  const schedule = () => {
    if (flying || scheduled || (lingering !== undefined && arrived.size < ENOUGH_ROWS && idlers.length === 0)) return;
    scheduled = true;
    setImmediate(pump);
  };

  /** Takes what becomes one row out of an arrival; the rest stays for a later one. */
  const takePart = (arrival: { key: string | undefined; waiting: Waiting<Item, Answer>[] }): Waiting<Item, Answer>[] => {
    let bytes = 0;
    let count = 0;
    for (const { item } of arrival.waiting) {
      bytes += itemSizeOf?.(item) ?? 0;
      if (count > 0 && (bytes > maxBytes / 4 || count >= MOST_ITEMS)) break;
      count += 1;
    }
    return arrival.waiting.splice(0, count);
  };

  const freeze = (arrival: { key: string | undefined; waiting: Waiting<Item, Answer>[] }): Entry<Item, Row, Answer> | undefined => {
    const items = arrival.waiting.map(({ item }) => item) as [Item, ...Item[]];
    try {
      const row = merge(items);
      if (arrival.key !== undefined) frozenKeys.add(arrival.key);
      return { key: arrival.key, row, bytes: sizeOf?.(row) ?? 0, waiting: arrival.waiting, goes: 0, alone: false, readyAt: 0, giveUpAt: (arrival.waiting[0]?.since ?? 0) + giveUpMs };
    } catch (error) {
      for (const one of arrival.waiting) one.reject(error);
      return undefined;
    }
  };

  const gather = (): Entry<Item, Row, Answer>[] => {
    const now = performance.now();
    const batch: Entry<Item, Row, Answer>[] = [];
    let bytes = 0;
    for (let i = 0; i < again.length && batch.length < mostRows;) {
      const entry = again[i];
      if (entry === undefined || entry.readyAt > now || (batch.length > 0 && (entry.alone || bytes + entry.bytes > maxBytes))) { i++; continue; }
      again.splice(i, 1);
      batch.push(entry);
      bytes += entry.bytes;
      if (entry.alone) return batch;
    }
    for (const [mark, arrival] of arrived) {
      if (batch.length >= mostRows || bytes >= maxBytes) break;
      if (arrival.key !== undefined && frozenKeys.has(arrival.key)) continue;
      const waiting = takePart(arrival);
      if (arrival.waiting.length === 0) arrived.delete(mark);
      const entry = freeze({ key: arrival.key, waiting });
      if (entry === undefined) continue;
      if (batch.length > 0 && bytes + entry.bytes > maxBytes) { again.push(entry); break; }
      batch.push(entry);
      bytes += entry.bytes;
    }
    return batch;
  };

  const settle = (entry: Entry<Item, Row, Answer>, answer: Answer) => {
    if (entry.key !== undefined) frozenKeys.delete(entry.key);
    for (const one of entry.waiting) one.resolve(answer);
  };
  const fail = (entry: Entry<Item, Row, Answer>, error: unknown) => {
    if (entry.key !== undefined) frozenKeys.delete(entry.key);
    for (const one of entry.waiting) one.reject(error);
  };
  const repeat = (entry: Entry<Item, Row, Answer>, error: unknown) => {
    entry.goes += 1;
    const pause = Math.min(1000, 5 * 2 ** Math.min(entry.goes, 8)) * (0.5 + Math.random());
    entry.readyAt = performance.now() + pause;
    if (entry.readyAt > entry.giveUpAt) fail(entry, error);
    else again.push(entry);
  };

  const send = async (batch: readonly Entry<Item, Row, Answer>[]): Promise<void> => {
    let answers: readonly (Answer | typeof busy)[];
    try {
      onFlush?.(op, batch.length);
      answers = await flush(batch.map(({ row }) => row));
    } catch (error) {
      const [only] = batch;
      if (tookTooLong(error)) mostRows = Math.max(1, Math.floor(batch.length / 2));
      if (isTransient(error)) for (const entry of batch) repeat(entry, error);
      else if (batch.length === 1 && only !== undefined) fail(only, error);
      else {
        const half = Math.ceil(batch.length / 2);
        await send(batch.slice(0, half));
        await send(batch.slice(half));
      }
      return;
    }
    mostRows = Math.min(maxRows, mostRows * 2);
    batch.forEach((entry, i) => {
      const answer = answers[i];
      if (answer === busy) {
        if (entry.goes + 1 >= BUSY_BEFORE_ALONE) entry.alone = true;
        repeat(entry, new Error(`${op}: the row stayed locked by others for ${giveUpMs} ms`));
      } else if (answer === undefined) fail(entry, new Error(`${op}: the flush gave ${answers.length} answers for ${batch.length} rows`));
      else settle(entry, answer);
    });
  };

  const pump = () => {
    scheduled = false;
    if (flying) return;
    clearTimeout(timer);
    clearTimeout(lingering);
    lingering = undefined;
    const batch = gather();
    if (batch.length > 0) {
      flying = true;
      void send(batch).finally(() => {
        flying = false;
        if (lingerMs > 0 && batch.length > 1) linger();
        else pump();
      });
      return;
    }
    if (again.length > 0) timer = setTimeout(pump, Math.max(1, Math.min(...again.map(({ readyAt }) => readyAt)) - performance.now()));
    else if (arrived.size === 0) { for (const resolve of idlers) resolve(); idlers = []; }
  };

  /** Waits for company; whoever waits for the batcher to be idle ends it. */
  const linger = () => {
    lingering = setTimeout(pump, lingerMs);
    if (arrived.size >= ENOUGH_ROWS || idlers.length > 0) schedule();
  };

  const submit = (item: Item) => new Promise<Answer>((resolve, reject) => {
    const key = keyOf?.(item);
    const mark = key ?? Symbol("item");
    const arrival = arrived.get(mark);
    const waiting = { item, since: performance.now(), resolve, reject };
    if (arrival === undefined) arrived.set(mark, { key, waiting: [waiting] });
    else arrival.waiting.push(waiting);
    schedule();
  });
  const depth = () => arrived.size + again.length + (flying ? 1 : 0);
  const idle = () => new Promise<void>((resolve) => {
    if (depth() === 0) { resolve(); return; }
    idlers.push(resolve);
    schedule();
  });
  return Object.assign(submit, { idle, depth });
}
