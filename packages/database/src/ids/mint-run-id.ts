import { v7 } from "uuid";

/** The uuid of a run to be born: rises with time, so that a list by id is a list by age. Minted before the first try. */
export function mintRunId(): string {
  return v7();
}
