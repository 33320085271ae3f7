import { isUtf8 } from "node:buffer";
import { bodyDepthMax } from "./schema.ts";

/**
 * Judges a body before it is parsed, in one pass: depth, duplicate keys, keys that reach for a
 * prototype, and numbers that would not survive (`1e400`, `-0`, `9007199254740993`, fractions:
 * the API has only integers). What is left over is exactly what `JSON.parse` reads.
 */
export class JsonError extends Error {
  override readonly name = "JsonError";
  /** Where, as a JSON pointer. */
  readonly pointer: string;

  constructor(pointer: string, message: string) {
    super(message);
    this.pointer = pointer;
  }
}

export function parseSafeJson(bytes: Uint8Array): unknown {
  if (!isUtf8(bytes)) throw new JsonError("", "expected JSON in UTF-8");
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  try {
    new Scanner(text).document();
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw new JsonError("", "expected valid JSON");
    throw error;
  }
}

export function pointerOf(path: readonly (string | number)[]): string {
  return path.map((part) => `/${pointerPart(String(part))}`).join("");
}

const pointerPartMax = 64;

/** One step of a JSON pointer; a hostile key is cut, so that an answer stays small. */
export function pointerPart(key: string): string {
  const short = key.length > pointerPartMax ? `${key.slice(0, pointerPartMax)}…` : key;
  return short.replaceAll("~", "~0").replaceAll("/", "~1");
}

const forbiddenKeys = new Set(["__proto__", "constructor", "prototype"]);
/** Up to here a list is searched; longer objects get a set, so that no body costs n². */
const listedKeysMax = 8;

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

class Scanner {
  readonly #text: string;
  readonly #path: (string | number)[] = [];
  #depth = 0;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): void {
    this.#value();
    if (!Number.isNaN(this.#next())) throw this.#error("expected the end of the body");
  }

  #value(): void {
    const code = this.#next();
    if (code === quote) this.#string();
    else if (code === openBrace) this.#object();
    else if (code === openBracket) this.#array();
    else if (code === 0x2d || isDigit(code)) this.#number();
    else this.#literal();
  }

  #object(): void {
    const depth = this.#enter();
    let keys: string[] | Set<string> = [];
    let more = this.#next() !== closeBrace;
    while (more) {
      if (this.#next() !== quote) throw this.#error("expected a key");
      const key = this.#key();
      this.#path[depth] = key;
      if (forbiddenKeys.has(key)) throw this.#error("this key is not allowed");
      keys = this.#once(keys, key);
      if (this.#next() !== colon) throw this.#error("expected a colon");
      this.#at++;
      this.#value();
      more = this.#goesOn(closeBrace);
    }
    this.#leave(depth);
  }

  #once(keys: string[] | Set<string>, key: string): string[] | Set<string> {
    const known = Array.isArray(keys) ? keys.includes(key) : keys.has(key);
    if (known) throw this.#error("the key stands here twice");
    if (!Array.isArray(keys)) return keys.add(key);
    keys.push(key);
    return keys.length > listedKeysMax ? new Set(keys) : keys;
  }

  #array(): void {
    const depth = this.#enter();
    let more = this.#next() !== closeBracket;
    for (let index = 0; more; index++) {
      this.#path[depth] = index;
      this.#value();
      more = this.#goesOn(closeBracket);
    }
    this.#leave(depth);
  }

  #enter(): number {
    if (this.#depth >= bodyDepthMax) throw this.#error(`deeper than ${bodyDepthMax} levels`);
    this.#at++;
    return this.#depth++;
  }

  #goesOn(close: number): boolean {
    const code = this.#next();
    if (code === close) return false;
    if (code !== comma) throw this.#error("expected a comma or the end");
    this.#at++;
    return true;
  }

  #leave(depth: number): void {
    this.#at++;
    this.#depth = depth;
    this.#path.length = depth;
  }

  /** The decoded key: `"\u0071"` and `"q"` are one key. */
  #key(): string {
    const start = this.#at;
    const isEscaped = this.#string();
    if (!isEscaped) return this.#text.slice(start + 1, this.#at - 1);
    const key: unknown = JSON.parse(this.#text.slice(start, this.#at));
    if (typeof key === "string") return key;
    throw this.#error("expected a key");
  }

  /** Escapes are judged by `JSON.parse`; here it is enough to know where the string ends. */
  #string(): boolean {
    let isEscaped = false;
    for (let at = this.#at + 1; at < this.#text.length; at++) {
      const code = this.#text.charCodeAt(at);
      if (code === quote) {
        this.#at = at + 1;
        return isEscaped;
      }
      if (code < 0x20) break;
      if (code !== backslash) continue;
      isEscaped = true;
      at++;
    }
    throw this.#error("expected the end of a string");
  }

  #number(): void {
    const start = this.#at;
    if (this.#code() === 0x2d) this.#at++;
    while (isDigit(this.#code())) this.#at++;
    const code = this.#code();
    if (code === 0x2e || code === 0x65 || code === 0x45) {
      throw this.#error("expected an integer, without fraction and exponent");
    }
    const token = this.#text.slice(start, this.#at);
    if (/^-?(0\d|$)/.test(token)) throw this.#error("expected an integer without leading zeros");
    const value = Number(token);
    if (!Number.isSafeInteger(value) || Object.is(value, -0)) {
      throw this.#error("expected an integer that can be kept exactly");
    }
  }

  #literal(): void {
    const word = ["true", "false", "null"].find((text) => this.#text.startsWith(text, this.#at));
    if (word === undefined) throw this.#error("expected a JSON value");
    this.#at += word.length;
  }

  /** Skips white space; NaN at the end. */
  #next(): number {
    let code = this.#code();
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) {
      this.#at++;
      code = this.#code();
    }
    return code;
  }

  #code(): number {
    return this.#text.charCodeAt(this.#at);
  }

  #error(message: string): JsonError {
    return new JsonError(pointerOf(this.#path), message);
  }
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}
