import type { ProblemCode } from "./contract.ts";
import en from "./messages/en.json" with { type: "json" };
import zhCn from "./messages/zh-CN.json" with { type: "json" };

export const languages = ["en", "zh-CN"] as const;
export type Language = (typeof languages)[number];

type Messages = {
  readonly titles: Readonly<Record<ProblemCode, string>>;
  readonly advice: Readonly<Record<ProblemCode, string>>;
};

export const messages: Readonly<Record<Language, Messages>> = { en, "zh-CN": zhCn };

const rangesMax = 16;

/** The language that the client wants most, of those that we speak; English without a wish. */
export function languageOf(acceptLanguage: string | undefined): Language {
  if (acceptLanguage === undefined) return "en";
  let best: Language = "en";
  let bestWeight = 0;
  for (const range of acceptLanguage.split(",", rangesMax)) {
    const [tag = "", ...parameters] = range.split(";");
    const language = spoken(tag.trim().toLowerCase());
    const weight = weightOf(parameters);
    if (language === undefined || weight <= bestWeight) continue;
    best = language;
    bestWeight = weight;
  }
  return best;
}

function spoken(tag: string): Language | undefined {
  if (tag === "zh" || tag.startsWith("zh-")) return "zh-CN";
  return tag === "en" || tag.startsWith("en-") || tag === "*" ? "en" : undefined;
}

function weightOf(parameters: readonly string[]): number {
  const q = parameters.map((text) => text.trim()).find((text) => text.startsWith("q="));
  if (q === undefined) return 1;
  const weight = Number(q.slice(2));
  return weight >= 0 && weight <= 1 ? weight : 0;
}
