import { Problem } from "../../infra/dev/problem.mjs";

const workloads = ["W1", "W2", "W3", "W4", "W5", "W6"];

/** `--json --check --quick --rounds N --only W2,W3`; anything else is refused by name. */
export function readOptions(args) {
  const options = { json: false, check: false, quick: false, rounds: undefined, only: undefined };
  for (let k = 0; k < args.length; k++) {
    const flag = args[k];
    if (flag === "--json" || flag === "--check" || flag === "--quick") options[flag.slice(2)] = true;
    else if (flag === "--rounds") options.rounds = readRounds(args[++k]);
    else if (flag === "--only") options.only = readWorkloads(args[++k]);
    else throw new Problem(`bench: ${flag} is not known; take --json, --check, --quick, --rounds N, --only W1,W2`);
  }
  const only = options.only ?? (options.quick ? ["W2", "W3", "W4"] : workloads);
  return { ...options, only, rounds: options.rounds ?? (options.quick ? 1 : 3), complete: !options.quick && only.length === workloads.length };
}

function readRounds(text = "") {
  if (!/^[1-9]$/.test(text)) throw new Problem(`bench: --rounds ${text}: expected a number from 1 to 9`);
  return Number(text);
}

function readWorkloads(text = "") {
  const wanted = text.split(",");
  const unknown = wanted.find((name) => !workloads.includes(name));
  if (unknown !== undefined) throw new Problem(`bench: --only ${unknown}: expected some of ${workloads.join(",")}`);
  return wanted;
}
