import { WorkflowFailure, type EffectOptions } from "@mainstay/sdk";

const classes: readonly unknown[] = ["read_only", "idempotent_write", "non_idempotent_write"];
const MOST_LETTERS = 1_000;
const MOST_MS = 3_600_000;

/**
 * Refuses an effect that is declared outside its bounds, before anything of it stands in the ledger: afterwards its
 * outcome would be unknown. Throws `platform.contract_mismatch` naming the rule.
 */
export function refuseOptions(key: unknown, options: EffectOptions): void {
  const { class: effectClass = "non_idempotent_write", destination, businessKey, timeoutMs = 1, keyRetentionMs = 1, providerMaxMs = 0 } = options;
  const rules: readonly (readonly [boolean, string])[] = [
    [isText(key), "the key is a text that Postgres can hold"],
    [isText(destination), "destination is a text that Postgres can hold"],
    [businessKey === undefined || isText(businessKey), "businessKey is a text that Postgres can hold"],
    [classes.includes(effectClass), "class is read_only, idempotent_write or non_idempotent_write"],
    [isWhole(timeoutMs) && timeoutMs >= 1 && timeoutMs <= MOST_MS, `timeoutMs is a whole number from 1 to ${MOST_MS}`],
    [isWhole(keyRetentionMs) && keyRetentionMs >= 1, "keyRetentionMs is a whole number of milliseconds, at least 1"],
    [isWhole(providerMaxMs) && providerMaxMs >= 0, "providerMaxMs is a whole number of milliseconds, at least 0"],
  ];
  const broken = rules.find(([holds]) => !holds);
  if (broken !== undefined) throw new WorkflowFailure("platform.contract_mismatch", { attributes: { rule: broken[1] } });
}

const isText = (value: unknown): boolean =>
  typeof value === "string" && value !== "" && value.length <= MOST_LETTERS && value.isWellFormed() && !value.includes("\u0000");

const isWhole = (value: unknown): boolean => Number.isSafeInteger(value);
