import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { install } from "../stack/packages.ts";

/** Like apt, it refuses a second one beside it; it installs a program that does nothing. */
const fakeApt = `#!/bin/sh
cd "$(dirname "$0")" || exit 1
mkdir busy 2>/dev/null || { echo "Could not get lock" >&2; exit 100; }
echo "$1" >> calls
if [ "$1" = install ]; then printf '#!/bin/sh\\n' > a-server; chmod +x a-server; fi
i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done
rmdir busy
`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-apt-"));
  writeFileSync(join(folder, "apt-get"), fakeApt);
  chmodSync(join(folder, "apt-get"), 0o755);
  vi.stubEnv("PATH", `${folder}:${process.env["PATH"] ?? ""}`);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

it("installs a program once, however many ask for it at once", async () => {
  await Promise.all(Array.from({ length: 4 }, () => install("a-server", "a-package")));
  expect(readFileSync(join(folder, "calls"), "utf8")).toBe("update\ninstall\n");
});
