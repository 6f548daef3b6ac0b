import fc from "fast-check";
import { expect, test } from "vitest";
import { conformanceFixtures, crashFixture, ownFixtures } from "../fixtures/fixtures.js";
import { capabilitiesOf, requirementKey } from "./document.js";
import { findGraphFault } from "./order.js";

test("a cycle is named by its path, wherever it lies", () => {
  fc.assert(fc.property(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 1, max: 5 }), fc.integer({ min: 0, max: 5 }), (before, size, after) => {
    const line = (name: string, length: number, first: string[]) => Array.from({ length }, (_, i) => ({ id: `${name}${i}`, after: i === 0 ? first : [`${name}${i - 1}`] }));
    const ring = Array.from({ length: size }, (_, i) => ({ id: `ring${i}`, after: [`ring${(i + size - 1) % size}`] }));
    const fault = findGraphFault([...line("before", before, []), ...ring, ...line("after", after, ["ring0"])]);
    if (fault?.fault !== "cycle") throw new Error(`no cycle was found: ${JSON.stringify(fault)}`);
    expect(fault.path[0]).toBe(fault.path.at(-1));
    expect(new Set(fault.path)).toEqual(new Set(ring.map(({ id }) => id)));
  }));
});

test("a graph without nodes, with a node twice or with an unknown dependency is named so", () => {
  expect(findGraphFault([])).toEqual({ fault: "no_nodes" });
  expect(findGraphFault([{ id: "a", after: [] }, { id: "a", after: [] }])).toEqual({ fault: "duplicate_node", node: "a" });
  expect(findGraphFault([{ id: "a", after: ["x"] }])).toEqual({ fault: "missing_dependency", node: "a", dependency: "x" });
});

test("every fixture is a graph without a fault", () => {
  for (const { id, nodes } of [...conformanceFixtures, ...ownFixtures, crashFixture]) expect(findGraphFault(nodes), id).toBeUndefined();
});

test("a document of built-in types needs those types; code is needed by workflow and hash", () => {
  const [effect] = ownFixtures.filter(({ id }) => id === "mainstay-effect");
  expect(capabilitiesOf(effect!, "abc")).toEqual(["core.identity", "core.noop", "http.request"]);
  const coded = { ...effect!, nodes: effect!.nodes.map((node) => ({ ...node, typeId: "mainstay.code" })) };
  expect(capabilitiesOf(coded, "0123456789abcdef0123")).toEqual(["code:mainstay-effect@0123456789abcdef"]);
  expect(requirementKey("default", ["a", "b"])).toBe("default/a+b");
});
