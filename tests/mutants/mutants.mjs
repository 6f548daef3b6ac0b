import { batches } from "./list/batches.mjs";
import { claims } from "./list/claims.mjs";
import { effects } from "./list/effects.mjs";
import { forks } from "./list/forks.mjs";
import { pauses } from "./list/pauses.mjs";
import { releases } from "./list/releases.mjs";

/**
 * Every mutant: `name`, the `edits` of its text patch (`file`, `find`, `put`), and the test that must go red, as
 * `in` (a file) and `kills` (part of the test's name). A `find` must stand exactly once in its file.
 */
export const mutants = [...claims, ...batches, ...effects, ...releases, ...pauses, ...forks];
