/** The text of a statement, waiting on an advisory lock after its snapshot and before it locks a row. */
export function pauseText(text: string, { cte, key }: { cte: string | undefined; key: number }): string {
  const pause = `pause as materialized (select pg_advisory_xact_lock_shared(${key}) is null as passed)`;
  if (cte === undefined) return pausePlain(text, pause);
  const opening = new RegExp(`(?<=with |, |\\*/ )${cte} as \\(`).exec(text);
  if (opening === null) throw new Error(`no CTE ${cte} in ${text.slice(0, 60)}`);
  const from = opening.index + opening[0].length;
  const to = closingOf(text, from);
  return `${text.slice(0, opening.index)}raw_${cte} as (${text.slice(from, to)}), ${pause}, `
    + `${cte} as materialized (select raw_${cte}.* from raw_${cte}, pause where pause.passed is not null)${text.slice(to + 1)}`;
}

/** A statement without a CTE: `update … where` waits in its join, before it touches a row. */
function pausePlain(text: string, pause: string): string {
  const update = text.indexOf("update ");
  let where = text.indexOf("where ", update);
  while (where >= 0 && count(text.slice(update, where), "(") !== count(text.slice(update, where), ")")) where = text.indexOf("where ", where + 1);
  if (update < 0 || where < 0) throw new Error(`no CTE and no update to pause in ${text.slice(0, 60)}`);
  return `${text.slice(0, update)}with ${pause} ${text.slice(update, where)}from pause where pause.passed is not null and ${text.slice(where + "where ".length)}`;
}

const count = (text: string, sign: string): number => text.split(sign).length - 1;

/** The index of the bracket that closes the one before `from`; brackets in texts and comments do not count. */
function closingOf(text: string, from: number): number {
  let depth = 1;
  for (let i = from; i < text.length; i++) {
    if (text[i] === "'") i = text.indexOf("'", i + 1);
    else if (text.startsWith("--", i)) i = text.indexOf("\n", i);
    else if (text[i] === "(") depth += 1;
    else if (text[i] === ")") depth -= 1;
    if (depth === 0) return i;
  }
  throw new Error("a CTE is not closed");
}
