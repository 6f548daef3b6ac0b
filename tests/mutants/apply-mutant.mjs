import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

/**
 * Applies the text patch of a mutant to a tree; answers what takes it back. Throws when a text does not stand exactly
 * once in its file: then the code has moved on and the mutant must follow it.
 */
export function applyMutant(tree, { name, edits }) {
  const before = new Map();
  for (const { file, find, put } of edits) {
    const target = path.join(tree, file);
    const text = readFileSync(target, "utf8");
    const times = text.split(find).length - 1;
    if (times !== 1) {
      restore(before);
      throw new Error(`mutant "${name}" does not apply: its text stands ${times} times in ${file}, expected once. Follow the code in tests/mutants/list. Text: ${find.trim()}`);
    }
    if (!before.has(target)) before.set(target, text);
    writeFileSync(target, text.replace(find, () => put));
  }
  return () => restore(before);
}

function restore(before) {
  for (const [file, text] of before) writeFileSync(file, text);
}
