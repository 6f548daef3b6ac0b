/** A process cannot start with these settings. The message names every problem at once and repeats no value of a variable. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(role: string, problems: readonly string[]) {
    super(`the ${role} cannot start with these settings:\n${problems.map((problem) => `  ${problem}`).join("\n")}`);
    this.name = "ConfigError";
    this.problems = problems;
  }
}
