import { isExactNumber } from "./is-exact-number.js";

/** Objects and arrays nested deeper than this are refused. */
export const maxJsonDepth = 64;

/** A body that is no JSON, or JSON that Postgres cannot hold or a double cannot carry. `path` is empty at the top. */
export class JsonRefused extends Error {
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.name = "JsonRefused";
    this.path = path;
  }
}

const plainText = /[^"\\\u0000-\u001f]*/y;
const numberToken = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const blank = /[ \t\n\r]*/y;
const escapes: Readonly<Record<string, string>> = {
  '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t",
};

/**
 * Parses JSON and refuses, naming the path, what later stages cannot carry: U+0000 and lone surrogates in any string,
 * numbers that a double changes, nesting deeper than {@link maxJsonDepth}, duplicate members and `__proto__`.
 *
 * @throws JsonRefused
 */
export function parseJson(text: string): unknown {
  const reader = new Reader(text);
  const value = reader.value("", 0);
  reader.end();
  return value;
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  end(): void {
    this.#skip();
    if (this.#at < this.#text.length) this.#refuse("", "expected the end of the body");
  }

  value(path: string, depth: number): unknown {
    this.#skip();
    const character = this.#text.charAt(this.#at);
    if (character === "{" || character === "[") {
      if (depth >= maxJsonDepth) throw new JsonRefused(path, `nested deeper than ${String(maxJsonDepth)} levels`);
      this.#at += 1;
      return character === "{" ? this.#object(path, depth + 1) : this.#array(path, depth + 1);
    }
    if (character === '"') return this.#string(path);
    if (this.#word("true")) return true;
    if (this.#word("false")) return false;
    if (this.#word("null")) return null;
    return this.#number(path);
  }

  #object(path: string, depth: number): Record<string, unknown> {
    const found: Record<string, unknown> = {};
    this.#skip();
    if (this.#take("}")) return found;
    for (;;) {
      this.#skip();
      if (this.#text.charAt(this.#at) !== '"') this.#refuse(path, "expected a member name");
      const name = this.#string(path);
      const inner = memberPath(path, name);
      if (name === "__proto__") throw new JsonRefused(inner, "a member named __proto__ is not accepted");
      if (Object.hasOwn(found, name)) throw new JsonRefused(inner, "the member stands twice");
      this.#skip();
      if (!this.#take(":")) this.#refuse(inner, "expected a colon");
      found[name] = this.value(inner, depth);
      this.#skip();
      if (this.#take("}")) return found;
      if (!this.#take(",")) this.#refuse(path, "expected a comma or the end of the object");
    }
  }

  #array(path: string, depth: number): unknown[] {
    const found: unknown[] = [];
    this.#skip();
    if (this.#take("]")) return found;
    for (;;) {
      found.push(this.value(`${path}[${String(found.length)}]`, depth));
      this.#skip();
      if (this.#take("]")) return found;
      if (!this.#take(",")) this.#refuse(path, "expected a comma or the end of the array");
    }
  }

  #string(path: string): string {
    this.#at += 1;
    let found = "";
    for (;;) {
      found += this.#match(plainText);
      const character = this.#text.charAt(this.#at);
      this.#at += 1;
      if (character === '"') break;
      if (character !== "\\") this.#refuse(path, "expected an escape for a control character, or the end of the string");
      found += this.#escape(path);
    }
    if (found.includes("\u0000")) throw new JsonRefused(path, "the character U+0000 cannot be stored");
    if (/\p{Surrogate}/u.test(found)) throw new JsonRefused(path, "a lone surrogate is no text");
    return found;
  }

  #escape(path: string): string {
    const kind = this.#text.charAt(this.#at);
    this.#at += 1;
    if (kind === "u") {
      const hex = this.#text.slice(this.#at, this.#at + 4);
      if (!/^[0-9A-Fa-f]{4}$/.test(hex)) this.#refuse(path, "expected four hex digits");
      this.#at += 4;
      return String.fromCharCode(Number.parseInt(hex, 16));
    }
    const escaped = escapes[kind];
    return escaped ?? this.#refuse(path, "unknown escape");
  }

  #number(path: string): number {
    const token = this.#match(numberToken);
    if (token === "") return this.#refuse(path, "expected a value");
    if (!isExactNumber(token)) {
      throw new JsonRefused(path, "the number does not fit a double exactly; send it as a string");
    }
    return Number(token);
  }

  #word(word: string): boolean {
    if (!this.#text.startsWith(word, this.#at)) return false;
    this.#at += word.length;
    return true;
  }

  #take(character: string): boolean {
    if (this.#text.charAt(this.#at) !== character) return false;
    this.#at += 1;
    return true;
  }

  #skip(): void {
    const code = this.#text.charCodeAt(this.#at);
    if (code === 32 || (code >= 9 && code <= 13)) this.#match(blank);
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [found = ""] = pattern.exec(this.#text) ?? [];
    this.#at += found.length;
    return found;
  }

  #refuse(path: string, expected: string): never {
    throw new JsonRefused(path, `malformed JSON at character ${String(Math.min(this.#at, this.#text.length))}: ${expected}`);
  }
}

function memberPath(path: string, name: string): string {
  if (!/^[A-Za-z0-9_$-]+$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === "" ? name : `${path}.${name}`;
}
