import { readFileSync } from "node:fs";
import type en from "./messages/en.json";

/** What people read, in their language. The English catalogue names the messages. */
export type MessageKey = keyof typeof en;
export const languages = ["en", "zh-CN"] as const;
export type Language = (typeof languages)[number];
export type Facts = Readonly<Record<string, string | number>>;

export type Text = {
  readonly language: Language;
  (key: MessageKey, facts?: Facts): string;
};

type Catalogue = Readonly<Record<string, string>>;

/** Numbers are grouped as the language does; a fact that is missing stays visible as `{name}`. */
export function textIn(language: Language): Text {
  const catalogue = load(language);
  const numbers = new Intl.NumberFormat(language);
  const show = (fact: string | number | undefined, name: string): string => {
    if (fact === undefined) return `{${name}}`;
    return typeof fact === "number" ? numbers.format(fact) : fact;
  };
  const text = (key: MessageKey, facts: Facts = {}): string =>
    (catalogue[key] ?? key).replace(/\{(\w+)\}/g, (_, name: string) => show(facts[name], name));
  return Object.assign(text, { language });
}

/** A message that may not exist: the catalogue's words for a code, or undefined. */
export function optionalText(text: Text, key: string, facts?: Facts): string | undefined {
  const isKey = (name: string): name is MessageKey => Object.hasOwn(load("en"), name);
  return isKey(key) ? text(key, facts) : undefined;
}

/** `--lang`, else the locale of the surroundings; anything but Chinese reads English. */
export function languageOf(
  flag: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Language {
  const locale = flag ?? (env["LC_ALL"] || env["LC_MESSAGES"] || env["LANG"] || "en");
  return /^zh\b|^zh_/i.test(locale) ? "zh-CN" : "en";
}

const loaded = new Map<Language, Catalogue>();

function load(language: Language): Catalogue {
  const known = loaded.get(language);
  if (known !== undefined) return known;
  const file = new URL(`./messages/${language}.json`, import.meta.url);
  const catalogue: Catalogue = JSON.parse(readFileSync(file, "utf8"));
  loaded.set(language, catalogue);
  return catalogue;
}
