import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

/** Where distributions put it; Debian's package is `chromium`. */
const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const packages = ["chromium", "fonts-noto-cjk"];

export function findBrowser(): string | undefined {
  return places.find((place) => existsSync(place));
}

/** Installs the distribution's Chromium where there is none and we may: the tests need one. */
export function setup(): void {
  if (findBrowser() !== undefined) return;
  if (process.getuid?.() === 0 && existsSync("/usr/bin/apt-get")) {
    process.stderr.write("holdfast: installing Chromium for the console's tests …\n");
    aptGet(["update", "-qq"]);
    aptGet(["install", "-y", "-qq", ...packages]);
  }
  if (findBrowser() === undefined) {
    throw new Error(`no Chromium at ${places.join(", ")}: apt-get install ${packages.join(" ")}`);
  }
}

function aptGet(args: readonly string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  spawnSync("apt-get", args, { stdio: ["ignore", 2, 2], env });
}
