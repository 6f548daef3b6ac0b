import { parseRunEvent, PollEventsResponse } from "@mainstay/contract";
import type { Watched } from "./watched.js";

/** So many pages of a log are read at most. */
const mostPages = 5;

/** Events that an api tells and the published contract does not know so: of each kind that is stored, in the run that has it last. */
export async function findOddEvents({ fleet }: Watched): Promise<readonly string[]> {
  const runs = await fleet.sql<{ id: string; types: string[] }>(
    `select id, array_agg(type order by type) as types from (
       select distinct on (e.type) e.type, e.run_id as id from run_events e join runs r on r.id = e.run_id where r.workspace = 'test' order by e.type, e.at desc
     ) last group by id`,
  );
  const odd: string[] = [];
  for (const { id, types } of runs) {
    let after = "";
    for (let page = 0; page < mostPages; page++) {
      const answer = await fetch(`${fleet.apiUrl()}/runs/test~2F${id}/events/poll?timeout=1${after}`, { headers: { authorization: `Bearer ${fleet.key}` } });
      const text = await answer.text();
      if (answer.status !== 200) {
        odd.push(`${id}: its log with ${types.join(", ")} is answered with ${answer.status}: ${text.slice(0, 200)}`);
        break;
      }
      const { events } = PollEventsResponse.parse(JSON.parse(text));
      for (const event of events) {
        const parsed = parseRunEvent(event);
        if ("wrong" in parsed) odd.push(`${id}: event ${event.sequence} ${event.type}: ${parsed.wrong}`);
      }
      const last = events.at(-1)?.sequence;
      if (last === undefined) break;
      after = `&afterSequence=${last}`;
    }
  }
  return odd;
}
