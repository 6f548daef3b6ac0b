import { randomUUID } from "node:crypto";
import type { ClaimAnswer, ClaimRequest, ClaimedRun, GroupCommit } from "@mainstay/database";
import type { HeldRuns } from "../runs/held-runs.js";

export type TakeTicketParts = {
  claim: GroupCommit<ClaimRequest, ClaimAnswer>;
  held: HeldRuns;
  incarnation: () => string;
  draining: () => boolean;
  begin: (claimed: ClaimedRun, owner: string) => Promise<void>;
  putBack: (runIds: readonly string[]) => Promise<void>;
  /** A claim was written before and its reply lost: the audit finds it. */
  onLostReply: () => void;
  onAnswer: (runId: string, answer: { result: "won" | "refused"; reason: string }) => void;
  onError: (error: unknown) => void;
};

/**
 * Takes the runs of one ticket: as many as there are free slots are claimed, the rest goes back to the broker. Resolves
 * once each is claimed or refused, never while a node runs (rule H17).
 */
export async function takeTicket(parts: TakeTicketParts, runIds: readonly string[]): Promise<void> {
  const { held } = parts;
  const named = [...new Set(runIds)];
  const room = parts.draining() ? 0 : Math.min(named.length, held.free());
  const [mine, rest] = [named.slice(0, room), named.slice(room)];
  held.reserve(room);
  const back = rest.length === 0 ? undefined : parts.putBack(rest);
  await Promise.all(mine.map(async (runId) => {
    let beginning: Promise<void> | undefined;
    try {
      const owner = parts.incarnation();
      const answer = await parts.claim({ runId, claimId: randomUUID() });
      if (answer.kind === "claimed") {
        parts.onAnswer(runId, { result: "won", reason: "ticket" });
        beginning = parts.begin(answer.run, owner).catch(parts.onError);
      } else if (answer.kind === "claimed_before") parts.onLostReply();
      else {
        parts.onAnswer(runId, { result: "refused", reason: answer.reason });
        if (answer.reason === "draining") await parts.putBack([runId]);
      }
    } catch (error) {
      parts.onError(error);
    } finally {
      // its slot stays reserved until the run itself stands there
      if (beginning === undefined) held.unreserve(1);
      else void beginning.then(() => { held.unreserve(1); });
    }
  }));
  await back;
}
