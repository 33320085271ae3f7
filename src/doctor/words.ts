import { invariant } from "../domain/invariant.ts";
import type { Finding, Said, State } from "./check.ts";
import en from "./messages/en.json" with { type: "json" };
import zhCn from "./messages/zh-CN.json" with { type: "json" };

export type DoctorLanguage = "en" | "zh-CN";

/** A finding in sentences: the same over HTTP and on a terminal. */
export type ToldCheck = {
  readonly id: string;
  readonly state: State;
  readonly found: string;
  /** Empty when all is well. */
  readonly cause: string;
  readonly fix: string;
  /** The command that shows it. */
  readonly look: string;
};

type Words = { readonly found: string; readonly cause: string; readonly fix: string };

const catalogues: Readonly<Record<DoctorLanguage, Readonly<Record<string, Words>>>> = {
  en,
  "zh-CN": zhCn,
};

export function inWords(finding: Finding, language: DoctorLanguage): ToldCheck {
  const { id, state, said, look } = finding;
  const words = catalogues[language][id];
  invariant(words !== undefined, `the doctor has no words for ${id}`);
  const numbers = new Intl.NumberFormat(language);
  const say = (template: string): string => fill(template, said, (n) => numbers.format(n));
  const isOk = state === "ok";
  return {
    id,
    state,
    found: say(words.found),
    cause: isOk ? "" : say(words.cause),
    fix: isOk ? "" : say(words.fix),
    look: fill(look, said, String),
  };
}

function fill(template: string, said: Said, show: (n: number) => string): string {
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const fact = said[name];
    if (fact === undefined) return whole;
    return typeof fact === "number" ? show(fact) : fact;
  });
}
