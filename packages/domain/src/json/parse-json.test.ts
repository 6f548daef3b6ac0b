import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isExactNumber } from "./is-exact-number.js";
import { JsonRefused, parseJson } from "./parse-json.js";

function refusal(text: string): { path: string; message: string } | undefined {
  try {
    parseJson(text);
    return undefined;
  } catch (error) {
    if (error instanceof JsonRefused) return { path: error.path, message: error.message };
    throw error;
  }
}

describe("parseJson", () => {
  it("reads whatever JSON.stringify writes", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const text = JSON.stringify(value);
        if (text.includes("\\u0000") || text.includes("__proto__") || /\\ud[89a-f]/i.test(text)) return;
        expect(parseJson(text)).toEqual(JSON.parse(text));
        expect(parseJson(JSON.stringify(value, undefined, 2))).toEqual(JSON.parse(text));
      }),
    );
  });

  it("refuses exactly what JSON.parse refuses among mutilated texts", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), fc.nat(), fc.string({ maxLength: 2 }), (value, where, noise) => {
        const text = JSON.stringify(value);
        const at = where % (text.length + 1);
        const broken = text.slice(0, at) + noise + text.slice(at);
        let valid = true;
        try { JSON.parse(broken); } catch { valid = false; }
        if (!valid) expect(refusal(broken)).toBeDefined();
      }),
    );
  });

  it.each([
    ['{"inputs":{"a":["x","\\u0000"]}}', "inputs.a[1]", "U+0000"],
    ['{"a":"\\ud800"}', "a", "lone surrogate"],
    ['{"a b":{"n":9007199254740993}}', '["a b"].n', "fit a double"],
    ['{"a":1e400}', "a", "fit a double"],
    ['{"a":1,"a":2}', "a", "stands twice"],
    ['{"x":{"__proto__":{}}}', "x.__proto__", "__proto__"],
    ["[".repeat(65) + "]".repeat(65), "[0]".repeat(64), "deeper than 64"],
    ['{"a":tru}', "a", "malformed"],
    ["", "", "malformed"],
    ['{"a":1} x', "", "end of the body"],
    ['"\u0001"', "", "control character"],
    ['"abc', "", "end of the string"],
    ["01", "", "end of the body"],
  ])("refuses %s at its path", (text, path, message) => {
    expect(refusal(text)).toEqual({ path, message: expect.stringContaining(message) as string });
  });

  it("takes 64 levels, a surrogate pair, and members named like Object's own", () => {
    expect(refusal("[".repeat(64) + "]".repeat(64))).toBeUndefined();
    expect(parseJson('"\\ud83d\\ude00"')).toBe("😀");
    expect(parseJson('{"constructor":1,"toString":2}')).toEqual(JSON.parse('{"constructor":1,"toString":2}'));
  });
});

describe("isExactNumber", () => {
  it.each(["0", "-0", "0.1", "1e21", "1.50", "123456789012345", "9007199254740992", "1E+2", "5e-324", "0.30000000000000004"])("takes %s", (token) => {
    expect(isExactNumber(token)).toBe(true);
  });

  it.each(["9007199254740993", "1e400", "0.1000000000000000055511151231257827", "12345678901234567890", "1e-400"])("refuses %s", (token) => {
    expect(isExactNumber(token)).toBe(false);
  });

  it("takes every number that JSON.stringify writes", () => {
    fc.assert(fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      expect(isExactNumber(JSON.stringify(value))).toBe(true);
    }));
  });
});
