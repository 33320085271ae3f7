import { hash } from "node:crypto";
import { readFileSync } from "node:fs";

/** One script is one transition: `lua/<name>.lua`, with what it includes. */
export const scriptNames = [
  "admit",
  "adopt",
  "begin-rebuild",
  "enqueue",
  "forget-ids",
  "forget-sale",
  "forget-sku",
  "forward",
  "held-tickets",
  "known-ids",
  "left-of",
  "load-begin",
  "load-clear",
  "load-facts",
  "load-levels",
  "load-open",
  "load-outbox",
  "load-tickets",
  "lookup",
  "mark",
  "observe",
  "outbox",
  "overdue",
  "project",
  "resend",
  "set-policy",
  "set-status",
  "skus",
] as const;

export type ScriptName = (typeof scriptNames)[number];
export type Script = { readonly name: ScriptName; readonly text: string; readonly sha: string };

/** A word, and what belongs to it. Numbers are decimal words; nothing is nil. */
export type ScriptReply = readonly [word: string, ...rest: string[]];

const folder = new URL("./lua/", import.meta.url);
const include = /^--@include (\S+)$/gm;
const loaded = new Map<ScriptName, Script>();

export function scriptOf(name: ScriptName): Script {
  const known = loaded.get(name);
  if (known !== undefined) return known;
  const text = sourceOf(name).replace(include, (_, part) => sourceOf(`include/${part}`).trimEnd());
  const script = { name, text, sha: hash("sha1", text, "hex") };
  loaded.set(name, script);
  return script;
}

/** A script or an include as it is written. */
export function sourceOf(name: string): string {
  return readFileSync(new URL(`${name}.lua`, folder), "utf8");
}

/** Numbers that a script is given, as words: no exponent, no fraction. */
export function decimal(number: number): string {
  return BigInt(number).toString();
}

export function parseReply(name: ScriptName, value: unknown): ScriptReply {
  const words: unknown[] = Array.isArray(value) ? value : [];
  const [word, ...rest] = words.map((each) => (typeof each === "string" ? each : null));
  const strings = rest.filter((each) => each !== null);
  if (typeof word === "string" && strings.length === rest.length) return [word, ...strings];
  throw new TypeError(`${name}.lua: expected an array of words, found ${typeof value}`);
}
