import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chromiumPlaces, findChromium } from "../../bench/chromium.ts";

const packages = ["chromium", "fonts-noto-cjk"];

/** Installs the distribution's Chromium where there is none and we may: the tests need one. */
export function setup(): void {
  if (findChromium() !== undefined) return;
  if (process.getuid?.() === 0 && existsSync("/usr/bin/apt-get")) {
    process.stderr.write("holdfast: installing Chromium for the console's tests …\n");
    aptGet(["update", "-qq"]);
    aptGet(["install", "-y", "-qq", ...packages]);
  }
  if (findChromium() === undefined) {
    const places = chromiumPlaces.join(", ");
    throw new Error(`no Chromium at ${places}: apt-get install ${packages.join(" ")}`);
  }
}

function aptGet(args: readonly string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  spawnSync("apt-get", args, { stdio: ["ignore", 2, 2], env });
}
