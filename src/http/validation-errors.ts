import type { FastifySchemaValidationError } from "fastify";
import { idPattern } from "../domain/values.ts";
import type { FieldError } from "./contract.ts";
import { pointerPart } from "./safe-json.ts";
import { pageLimitMax, textPattern, timePattern, waitSecondsMax } from "./schema.ts";

const errorsMax = 20;

/** In a person's words: a pattern alone explains nothing. */
const patternWords: ReadonlyMap<string, string> = new Map([
  [idPattern, "expected 1–64 characters of A–Z a–z 0–9 . _ ~ -, the first a letter or digit"],
  [timePattern, "expected a time like 2026-11-11T00:00:00.000Z"],
  [textPattern, "expected one line of text without control characters"],
]);

const fieldWords: ReadonlyMap<string, string> = new Map([
  ["/limit", `expected an integer from 1 to ${pageLimitMax}`],
  ["/wait", `expected an integer from 0 to ${waitSecondsMax}`],
  ["/cursor", "expected a cursor of this list"],
]);

const places: Readonly<Record<string, FieldError["in"]>> = {
  body: "body",
  querystring: "query",
  params: "path",
  headers: "header",
};

/** One line for each field, in the order in which the schema found them. */
export function fieldErrors(
  found: readonly FastifySchemaValidationError[],
  context: string | undefined,
): FieldError[] {
  const place = places[context ?? "body"] ?? "body";
  const errors = new Map<string, FieldError>();
  for (const error of found) {
    const pointer = pointerTo(error);
    if (errors.has(pointer) || errors.size >= errorsMax) continue;
    errors.set(pointer, { in: place, pointer, message: wordsFor(error, place, pointer) });
  }
  return [...errors.values()];
}

function pointerTo({ instancePath, keyword, params }: FastifySchemaValidationError): string {
  const member = keyword === "required" ? params["missingProperty"] : params["additionalProperty"];
  return typeof member === "string" ? `${instancePath}/${pointerPart(member)}` : instancePath;
}

function wordsFor(
  { keyword, params, message }: FastifySchemaValidationError,
  place: FieldError["in"],
  pointer: string,
): string {
  if (keyword === "required") return "is required";
  if (keyword === "additionalProperties") return "is not a field of this request";
  const words = place === "query" ? fieldWords.get(pointer) : undefined;
  if (words !== undefined) return words;
  if (keyword === "type") return `expected ${withArticle(String(params["type"]))}`;
  if (keyword === "enum") return `expected one of ${listed(params["allowedValues"])}`;
  if (keyword === "pattern") return patternWords.get(String(params["pattern"])) ?? "has a bad form";
  return message ?? "is not valid";
}

function listed(values: unknown): string {
  return Array.isArray(values) ? values.join(", ") : "the documented values";
}

function withArticle(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}
