import i18next from "i18next";
import { initReactI18next } from "react-i18next";
import { speakTo } from "./api/call.ts";
import type { Language } from "./format.ts";
import { remember, remembered } from "./remembered.ts";

export const languages: readonly Language[] = ["en", "zh-CN"];

const catalogs: Readonly<Record<Language, () => Promise<{ default: object }>>> = {
  en: () => import("./messages/en.json"),
  "zh-CN": () => import("./messages/zh-CN.json"),
};

/** What was chosen before, else what the browser asks for. */
export function firstLanguage(): Language {
  const chosen = remembered("language");
  const wished = chosen === null ? navigator.languages : [chosen];
  return wished.some((tag) => tag.toLowerCase().startsWith("zh")) ? "zh-CN" : "en";
}

export async function startLanguage(): Promise<void> {
  const language = firstLanguage();
  await i18next.use(initReactI18next).init({
    lng: language,
    resources: {},
    // What the server says may be a key, and may hold a colon.
    nsSeparator: false,
    interpolation: { escapeValue: false },
    returnNull: false,
  });
  await speak(language);
}

/** Switches without a reload; the catalog comes when it is first asked for. */
export async function speak(language: Language): Promise<void> {
  if (!i18next.hasResourceBundle(language, "translation")) {
    const catalog = await catalogs[language]();
    i18next.addResourceBundle(language, "translation", catalog.default, true, true);
  }
  speakTo({ language });
  document.documentElement.lang = language;
  await i18next.changeLanguage(language);
}

export async function chooseLanguage(language: Language): Promise<void> {
  remember("language", language);
  await speak(language);
}
