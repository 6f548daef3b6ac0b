import { ConfigError } from "@mainstay/config";
import { ClientError, Unreachable, WaitedTooLong } from "@mainstay/sdk";
import { exitStatus, type ExitStatus } from "./exit-status.js";

/** A command cannot do what it was asked to; `next` is the one thing to do about it. */
export class Trouble extends Error {
  readonly status: ExitStatus;
  readonly next: string | undefined;

  constructor(message: string, status: ExitStatus, next?: string) {
    super(message);
    this.name = "Trouble";
    this.status = status;
    this.next = next;
  }
}

/** What is printed of an error, and the exit status it ends with. */
export type ToldTrouble = Readonly<{ status: ExitStatus; code: string; message: string; next: string | undefined; requestId: string | undefined }>;

/** Turns whatever was thrown into one message, one next step and an exit status. */
export function tellTrouble(thrown: unknown): ToldTrouble {
  if (thrown instanceof Trouble) {
    return { status: thrown.status, code: thrown.status === exitStatus.usage ? "usage" : "error", message: thrown.message, next: thrown.next, requestId: undefined };
  }
  if (thrown instanceof ClientError) return ofAnswer(thrown);
  if (thrown instanceof Unreachable) {
    return { status: exitStatus.unavailable, code: "unreachable", message: thrown.message, next: "start the fleet (mainstay dev), or name it with --url or MAINSTAY_URL", requestId: undefined };
  }
  if (thrown instanceof WaitedTooLong) {
    return { status: exitStatus.waitedTooLong, code: "waited_too_long", message: thrown.message, next: `mainstay run watch ${thrown.runId}`, requestId: undefined };
  }
  if (thrown instanceof ConfigError) {
    return { status: exitStatus.usage, code: "configuration", message: thrown.message, next: "correct these variables", requestId: undefined };
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const away = /ECONNREFUSED|ENOTFOUND|Connection terminated|timeout exceeded when trying to connect/.test(message);
  if (away) {
    return { status: exitStatus.unavailable, code: "unreachable", message: `the database gave no answer: ${message}`, next: "check DATABASE_URL and that the server runs", requestId: undefined };
  }
  return { status: exitStatus.failed, code: "error", message, next: undefined, requestId: undefined };
}

function ofAnswer({ status, code, message, requestId }: ClientError): ToldTrouble {
  const told = { code, message, requestId };
  if (status === 404) return { ...told, status: exitStatus.notFound, next: "check the id, and that the key belongs to its workspace" };
  if (status === 401) return { ...told, status: exitStatus.notAuthorised, next: "set MAINSTAY_KEY to a live key; make one with: mainstay key create" };
  if (status === 403) return { ...told, status: exitStatus.notAuthorised, next: "use a key of that workspace with the scope named" };
  if (status === 409 || status === 412 || status === 428) return { ...told, status: exitStatus.conflict, next: "read the run's state: mainstay run get <run-id>" };
  if (status === 429 || status === 503) return { ...told, status: exitStatus.unavailable, next: "try again later" };
  return { ...told, status: exitStatus.failed, next: status >= 500 ? "look for the request id in the api's log" : undefined };
}
