import { describe, expect, it } from "vitest";
import { createCursors } from "./cursor.js";
import { isNotModified } from "./entity-tag.js";

describe("a cursor", () => {
  const cursors = createCursors("s");

  it("is read back for the filter it was issued for, by any api with the same secret", () => {
    const cursor = cursors.issue("p-1", ["acme", "noop", undefined]);
    expect(createCursors("s").read(cursor, ["acme", "noop", undefined])).toBe("p-1");
  });

  it("is foreign to another filter, workspace or secret, and when it was changed", () => {
    const cursor = cursors.issue("p-1", ["acme", "noop"]);
    expect(cursors.read(cursor, ["acme", "other"])).toBeUndefined();
    expect(cursors.read(cursor, ["beta", "noop"])).toBeUndefined();
    expect(createCursors("t").read(cursor, ["acme", "noop"])).toBeUndefined();
    expect(cursors.read(`A${cursor.slice(1)}`, ["acme", "noop"])).toBeUndefined();
    for (const garbage of ["", "abc", "!!!", `${cursor}=`]) expect(cursors.read(garbage, ["acme", "noop"])).toBeUndefined();
  });
});

describe("If-None-Match", () => {
  it("names a tag alone, in a list, weak, or by a star", () => {
    for (const header of ['"a"', '"b", "a"', 'W/"a"', "*"]) expect(isNotModified(header, '"a"')).toBe(true);
    for (const header of [undefined, "", '"b"', "a"]) expect(isNotModified(header, '"a"')).toBe(false);
  });
});
