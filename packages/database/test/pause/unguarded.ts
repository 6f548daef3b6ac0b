/** Statements that write and need no pause, each with the reason. */
export const unguarded: Readonly<Record<string, string>> = {
  "idempotency.remember": "its unique key is the lock: the first record stays and is the answer, whatever the snapshot shows",
  "keys.create": "inserts a row under a fresh id; nothing else is touched",
  "keys.revoke": "sets a time that is never taken back; twice is the same as once",
  "workflows.register": "inserts what is not known yet; of what is known only the time of its last registration moves",
  "lanes.prepare": "inserts what is not there yet; what is there stays as it is",
  "retention.delete_ended_records": "removes records by two facts that are never taken back: the run has ended, the time is over",
  "retention.delete_expired_records": "removes records whose time is over, which is never taken back",
  "messages.record": "inserts a row; a repeat is a second line for an operator",
  "outbox.delete": "removes rows by their own numbers; a row is a hint",
  "outbox.put_back": "gives rows back by their own numbers; a row is a hint, and a repeated ticket is refused by the claim",
};
