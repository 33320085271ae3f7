import { existsSync } from "node:fs";
import type { Browser } from "playwright-core";

/** Where distributions put it; Debian's package is `chromium`. */
export const chromiumPlaces = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

/** The distribution's own: nothing is downloaded. */
export function findChromium(): string | undefined {
  return chromiumPlaces.find((place) => existsSync(place));
}

export async function openChromium(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error("no Chromium: apt-get install chromium");
  const { chromium } = await import("playwright-core");
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}
