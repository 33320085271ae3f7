/** Wishes of this browser: language, theme, pauses. A browser that keeps nothing works as well. */
export type Wish = "language" | "theme";

export function remembered(wish: Wish): string | null {
  try {
    return localStorage.getItem(`holdfast.${wish}`);
  } catch {
    return null;
  }
}

export function remember(wish: Wish, value: string): void {
  try {
    localStorage.setItem(`holdfast.${wish}`, value);
  } catch {
    // Private windows may refuse; the choice then holds for this page.
  }
}
