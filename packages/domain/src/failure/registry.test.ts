import { expect, test } from "vitest";
import { failureClasses, isFailureClass } from "./classes.js";
import { fingerprintOf, MAX_CAUSES, toEnvelope, toWireError } from "./envelope.js";
import { findFailure, isPlatformCode, platformFailures, wireCode } from "./registry.js";

const codes = Object.entries(platformFailures);

test("every code of the engine is lower snake case and stands under one of the eight classes", () => {
  for (const [code, { class: failureClass }] of codes) {
    expect(code).toMatch(/^[a-z]+(_[a-z0-9]+)*$/);
    expect(isFailureClass(failureClass)).toBe(true);
    expect(isPlatformCode(code)).toBe(true);
  }
  expect(new Set(codes.map(([, { class: failureClass }]) => failureClass)).size).toBe(Object.keys(failureClasses).length);
});

test("every code says what happened and what to do, without a full stop or a placeholder", () => {
  for (const [code, { message, remediation }] of codes) {
    expect(message, code).toMatch(/^[A-Z].{8,}[^.]$/);
    expect(remediation, code).toMatch(/^[A-Z].+[^.]$/);
  }
});

test("the wire spells a code as OpenWOP registers it, else as mainstay.<code>, and no two inner codes blur unless OpenWOP blurs them", () => {
  const registered = ["rate_limited", "upstream_unavailable", "run_timeout", "node_config_invalid", "payload_too_large", "forbidden", "egress_denied", "replay_source_missing"];
  const spelled = codes.map(([code, failure]) => {
    const wire = wireCode(`platform.${code}`);
    expect(wire).toBe("wire" in failure ? failure.wire : `mainstay.${code}`);
    return wire;
  });
  expect(new Set(spelled).size).toBe(spelled.length);
  expect(spelled.filter((wire) => !wire.startsWith("mainstay.")).sort()).toEqual(registered.sort());
});

test("an envelope of every code takes class, retry and words from the registry alone", () => {
  for (const [code, failure] of codes) {
    const envelope = toEnvelope(`platform.${code}`);
    expect(envelope).toMatchObject({
      schemaVersion: 1, code: `platform.${code}`, class: failure.class, message: failure.message, retryable: failureClasses[failure.class].retryable, deterministic: failure.deterministic,
    });
    expect(toWireError(envelope, "handler_error")).toEqual({ code: wireCode(`platform.${code}`), message: failure.message, details: { class: failure.class, code: `platform.${code}`, disposition: "handler_error" } });
  }
});

test("a code of a workflow is bound to its class, and spelled app_<code> on the wire", () => {
  const app = { out_of_stock: { class: "NON_RETRYABLE" as const, message: "Nothing is left", remediation: "Order more" } };
  expect(findFailure("app.out_of_stock", app)).toMatchObject({ class: "NON_RETRYABLE", deterministic: false });
  expect(wireCode("app.out_of_stock", app)).toBe("mainstay.app_out_of_stock");
  expect(toEnvelope("app.out_of_stock", { app })).toMatchObject({ code: "app.out_of_stock", class: "NON_RETRYABLE" });
});

test("an unregistered code is unclassified, also when it is named like a member of every object", () => {
  for (const code of ["platform.invented", "app.invented", "other.thing", "nonsense", "platform.toString", "app.constructor", ""]) {
    expect(findFailure(code)).toBeUndefined();
    expect(toEnvelope(code)).toMatchObject({ code: "platform.unclassified", class: "NON_RETRYABLE", retryable: false });
  }
});

test("only TRANSIENT is retried by itself", () => {
  expect(Object.entries(failureClasses).filter(([, { retryable }]) => retryable).map(([name]) => name)).toEqual(["TRANSIENT"]);
});

test("at most eight causes are kept, and the fingerprint tells class, code, component and operation apart", () => {
  expect(toEnvelope("platform.timeout", { cause: Array.from({ length: 20 }, () => ({ message: "Error" })) }).cause).toHaveLength(MAX_CAUSES);
  const prints = [toEnvelope("platform.timeout"), toEnvelope("platform.timeout", { component: "a" }), toEnvelope("platform.timeout", { operation: "a" }), toEnvelope("platform.rate_limited")].map(fingerprintOf);
  expect(new Set(prints).size).toBe(4);
});
