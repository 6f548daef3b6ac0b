import type { EffectOptions } from "@mainstay/sdk";

const DEFAULT_TIMEOUT_MS = 30_000;

/** How long the one request of a launch may take, and after how long nothing of it can still arrive. Milliseconds. */
export function effectTimes({ timeoutMs = DEFAULT_TIMEOUT_MS, providerMaxMs = 0 }: EffectOptions, sendGraceMs: number): { timeoutMs: number; quietMs: number } {
  return { timeoutMs, quietMs: sendGraceMs + timeoutMs + providerMaxMs };
}
