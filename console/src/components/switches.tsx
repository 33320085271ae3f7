import { chooseLanguage } from "../i18n.ts";
import { chooseTheme, themeWishes, useTheme } from "../use-theme.ts";
import { useWords } from "../use-words.ts";

/** Names the language that it switches to, in that language. */
export function LanguageSwitch() {
  const { language } = useWords();
  const next = language === "en" ? "zh-CN" : "en";
  return (
    <button
      type="button"
      className="tool"
      lang={next}
      data-testid="language"
      onClick={() => void chooseLanguage(next)}
    >
      {next === "en" ? "English" : "中文"}
    </button>
  );
}

const marks = { system: "◐", light: "☀", dark: "☾" } as const;

export function ThemeSwitch() {
  const { t } = useWords();
  const { wish } = useTheme();
  const next = themeWishes[(themeWishes.indexOf(wish) + 1) % themeWishes.length] ?? "system";
  const label = t("theme.now", { theme: t(`theme.${wish}`), next: t(`theme.${next}`) });
  return (
    <button
      type="button"
      className="tool"
      aria-label={label}
      title={label}
      data-testid="theme"
      onClick={() => chooseTheme(next)}
    >
      {marks[wish]}
    </button>
  );
}
