/** Progress for the reader, one line on stderr; stdout belongs to what the script answers. */
export function say(line) {
  process.stderr.write(`${line}\n`);
}
