/** Something the reader can mend: the message says what was expected, what was seen and what to do. No stack is shown. */
export class Problem extends Error {
  name = "Problem";
}
