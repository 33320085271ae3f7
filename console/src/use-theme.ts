import { useEffect, useSyncExternalStore } from "react";
import { remember, remembered } from "./remembered.ts";

export const themeWishes = ["system", "light", "dark"] as const;
export type ThemeWish = (typeof themeWishes)[number];

const system = window.matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();
let wish: ThemeWish = themeWishes.find((name) => name === remembered("theme")) ?? "system";

function isDarkNow(): boolean {
  return wish === "system" ? system.matches : wish === "dark";
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  system.addEventListener("change", listener);
  return () => {
    listeners.delete(listener);
    system.removeEventListener("change", listener);
  };
}

export function chooseTheme(next: ThemeWish): void {
  wish = next;
  remember("theme", next);
  for (const listener of listeners) listener();
}

/** Follows the system until somebody chooses. */
export function useTheme(): { readonly isDark: boolean; readonly wish: ThemeWish } {
  const isDark = useSyncExternalStore(subscribe, isDarkNow);
  const now = useSyncExternalStore(subscribe, () => wish);
  useEffect(() => {
    document.documentElement.dataset["theme"] = isDark ? "dark" : "light";
  }, [isDark]);
  return { isDark, wish: now };
}
