import { attemptBound } from "../bounds/attempt-bound.js";
import { recoveryBounds } from "../bounds/recovery-bounds.js";
import { readConfig } from "../read-config.js";
import { settingGroups } from "../settings/settings.js";
import type { Setting } from "../settings/setting.js";

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

function row(setting: Setting<unknown>): string {
  const name = setting.secret ? `\`${setting.name}\`, \`${setting.name}_FILE\`` : `\`${setting.name}\``;
  return `| ${name} | ${cell(setting.shownDefault)} | ${cell(setting.expected)} | ${cell(setting.about)} |`;
}

/** The text of `docs/reference/config.md`, printed from the catalogue that the processes read by. */
export function configReference(): string {
  const config = readConfig("api", { DATABASE_URL: "postgres://localhost/mainstay" });
  const bounds = recoveryBounds(config);
  const attempts = attemptBound(config);
  const tables = settingGroups.map(({ title, settings }) => [
    `## ${title}`, "", "| variable | default | accepts | what for |", "|---|---|---|---|",
    ...Object.values<Setting<unknown>>(settings).map(row), "",
  ].join("\n"));
  return [
    "# Configuration",
    "",
    "Printed from `packages/config`; do not edit. Settings are read once, at the start of a process, from the environment.",
    "An empty variable is an unset one. Each secret can stand in a file instead: `<NAME>_FILE` holds its path.",
    "A process that cannot start names every wrong variable at once, and no value.",
    "",
    ...tables,
    "## Tests",
    "",
    "| variable | default | accepts | what for |",
    "|---|---|---|---|",
    "| `MAINSTAY_TEST_BACKEND` | auto | one of auto, embedded, testcontainers | Where the tests get Postgres and Redis from; `auto`: the URLs above, else what is found on the machine. |",
    "",
    "## `policy.yaml`",
    "",
    "| key | default | what for |",
    "|---|---|---|",
    "| `runtime.stalled_run_escalation.enabled` | true | Whether a run without progress raises `platform.run_stalled`. |",
    "| `runtime.stalled_run_escalation.threshold_seconds` | 300 | After how long; must exceed the largest recovery bound. |",
    "| `runtime.handler_retry_base_seconds` | 1 | First back-off of a failed node; each further one is twice as long. |",
    "",
    "## Rules that span settings",
    "",
    "* the lease is at least three heartbeats",
    "* statement time-out and idle-transaction time-out together do not exceed the lease",
    "* the effect margin is less than the lease without one heartbeat",
    "* `MAINSTAY_WEDGED_AFTER_MS` is at least two audits",
    "* the working pool has at least 3 connections",
    "* the largest input does not exceed the largest body",
    "* the stall threshold exceeds the largest recovery bound",
    "* production refuses seams and well-known demo secrets, and is brokerless only when `MAINSTAY_BROKER=none` is named",
    "",
    "## Recovery bounds at the default settings",
    "",
    "| class | bound, ms | terms |",
    "|---|---|---|",
    ...bounds.map((bound) => `| \`${bound.class}\` | ${bound.bound} | ${bound.terms.map(({ name, ms }) => `${name} ${ms}`).join(" + ")} |`),
    "",
    `A poison node begins at most ${attempts.bound} times before its run has ended: ${attempts.terms.map(({ name, count }) => `${name} ${count}`).join(" + ")}.`,
    "",
  ].join("\n");
}
