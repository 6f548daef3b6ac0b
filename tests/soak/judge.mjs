import fs from "node:fs";

const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** Each claim of the soak with what was seen; `ok` is false where it does not hold. */
export async function judge({ accepted, sql, receiver, ledger, samples, tallies, fleet, budget }) {
  const claims = [];
  const claim = (name, ok, seen) => { claims.push({ name, ok, seen }); };

  const stored = new Map((await sql("select id, status from runs")).map(({ id, status }) => [id, status]));
  const lost = [...accepted.keys()].filter((id) => !stored.has(id));
  const open = [...stored].filter(([, status]) => !["completed", "failed", "cancelled"].includes(status));
  const wrong = [...accepted].filter(([id, ends]) => stored.get(id) !== ends);
  const uncalled = [...stored.keys()].filter((id) => !accepted.has(id));
  claim("accepted = stored = terminal, as each workflow must end", lost.length + open.length + wrong.length + uncalled.length === 0 && accepted.size > 0,
    `${accepted.size} accepted, ${stored.size} stored, ${lost.length} lost, ${open.length} open, ${wrong.length} ended otherwise (${[...new Set(wrong.map(([id]) => stored.get(id)))].join(", ")}), ${uncalled.length} nobody was told of`);
  claim("every submission was answered", tallies.refused.length === 0, tallies.refused.slice(0, 3).join("; ") || `0 refused, ${tallies.retried} tried again`);

  const effects = receiver.accepted();
  const orders = await sql("select input->>'businessKey' as key from runs where workflow_id = 'soak-order' and status = 'completed'");
  const twice = [...effects].filter(([, times]) => times > 1).length;
  const missing = orders.filter(({ key }) => effects.get(key) !== 1).length;
  claim("accepted effects per identity = 1", twice + missing === 0, `${orders.length} orders, ${twice} accepted twice, ${missing} missing`);

  const logs = await sql(`with logs as (
      select r.id, count(*) as events, max(e.seq) as last, count(*) filter (where e.type in ('run.completed', 'run.failed', 'run.cancelled')) as ends,
        max(e.seq) filter (where e.type in ('run.completed', 'run.failed', 'run.cancelled')) as ended
      from runs r join run_events e on e.run_id = r.id group by r.id
    ) select count(*)::int as broken from logs where ends <> 1 or events <> last + 1 or ended <> last`);
  const fences = await sql(`select count(*)::int as broken from (
      select type, fence, lag(fence) over (partition by run_id order by seq) as before from run_events
    ) f where fence < before or (type = 'lease.acquired' and fence <= before)`);
  claim("no log violation: dense, one end, nothing after it, fences rise", logs[0].broken + fences[0].broken === 0, `${logs[0].broken} logs, ${fences[0].broken} fences`);

  const begun = new Map();
  for (const line of fs.readFileSync(ledger, "utf8").split("\n")) if (line !== "") begun.set(line, (begun.get(line) ?? 0) + 1);
  const doubles = [...begun].filter(([, times]) => times > 1).length;
  claim("no execution of a (run, node, fence) began twice", doubles === 0, `${begun.size} executions, ${doubles} twice`);
  claim("no waiting run older than its bound", tallies.late.length === 0, tallies.late.length === 0 ? "0" : JSON.stringify(tallies.late.slice(0, 3)));

  const crashed = fleet.processes().flatMap((one) => one.lines().filter(({ event }) => event?.msg === "process crashed").map(({ text }) => `${one.name}: ${text}`));
  const deaths = fleet.deaths();
  const unasked = Object.entries(deaths).filter(([how]) => how !== "SIGKILL").map(([how, times]) => `${times} × ${how}`);
  claim("no process ended but those that were killed", crashed.length + unasked.length === 0 && deaths.SIGKILL === tallies.kills,
    [...crashed.slice(0, 2), ...unasked, `${deaths.SIGKILL ?? 0} of ${tallies.kills} killed`].join("; "));

  const [early, late] = [samples.slice(Math.floor(samples.length / 4), Math.floor(samples.length / 2)), samples.slice(-Math.max(1, Math.floor(samples.length / 4)))];
  const grown = Object.keys(samples.at(-1)?.memory ?? {}).map((name) => {
    const before = median(early.map(({ memory }) => memory[name] ?? 0));
    const after = median(late.map(({ memory }) => memory[name] ?? 0));
    return { name, before, after, ok: after <= before * 1.3 + 40 };
  });
  claim("memory of the processes that were spared is stable", grown.length > 0 && grown.every(({ ok }) => ok), grown.map(({ name, before, after }) => `${name} ${before} → ${after} MiB`).join(", "));
  const sessions = Math.max(...samples.map((one) => one.sessions));
  claim(`sessions stay within the budget of ${budget}`, sessions <= budget, `at most ${sessions}`);
  const snapshot = Math.max(...samples.map((one) => one.snapshotS));
  claim("no snapshot is held longer than 30 s", snapshot <= 30, `${snapshot.toFixed(1)} s`);
  const end = samples.at(-1)?.tables ?? {};
  const swollen = Object.entries(end).filter(([name, { dead, live }]) => name !== "outbox" && dead > 5_000 + live * 0.25).map(([name, { dead, live }]) => `${name} ${dead} dead of ${live}`);
  const outboxBytes = Math.max(...samples.map(({ tables }) => tables.outbox?.bytes ?? 0));
  claim("hot tables stay small: dead rows follow, the outbox is empty and flat, incarnations are cleared away",
    swollen.length === 0 && (await sql("select from outbox")).length === 0 && outboxBytes < 32 * 1_048_576,
    swollen.join(", ") || `outbox at most ${Math.round(outboxBytes / 1_048_576)} MiB, ${samples.at(-1)?.incarnations} incarnations`);
  return claims;
}
