// TypeScript to dist/, and beside it the files that the code reads at run time. `--clean` starts
// from nothing. Everything said goes to standard error.

import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { withLock } from "./lock.mjs";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const lockFolder = join(root, ".holdfast", "setup.lock");

const sourceFolders = ["src", "sim", "bench", "stack", "faults", "migrations"];
const settings = ["tsconfig.json", "tsconfig.build.json", "package.json", "scripts/build.mjs"];
const asset = /\.(sql|lua|json|html)$/;
const emitted = /\.(js|js\.map|d\.ts|d\.ts\.map)$/;

/** What was built from what: one line per input. Equal text means an equal build. */
export function inputs() {
  const paths = [...settings, ...sourceFolders.flatMap((folder) => files(folder))];
  const lines = paths.map((path) => {
    const { mtimeMs, size } = statSync(join(root, path));
    return `${path} ${size} ${mtimeMs}`;
  });
  return `${lines.join("\n")}\n`;
}

/** Compiles and copies; returns false when the compiler has refused, having said why. */
export function build({ clean = false } = {}) {
  const dist = join(root, "dist");
  if (clean) rmSync(dist, { recursive: true, force: true });
  mkdirSync(dist, { recursive: true });
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
  const run = spawnSync(process.execPath, [compiler, "-p", "tsconfig.build.json"], {
    cwd: root,
    stdio: ["ignore", 2, 2],
  });
  if (run.status !== 0) return false;
  dropOrphans();
  copyAssets();
  const main = join(dist, "src", "cli", "main.js");
  if (existsSync(main)) chmodSync(main, 0o755);
  return true;
}

function copyAssets() {
  for (const path of sourceFolders.flatMap((folder) => files(folder))) {
    if (!asset.test(path)) continue;
    const target = join(root, "dist", path);
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(root, path), target);
  }
}

/** The compiler leaves the output of a deleted source behind, where it could still be imported. */
function dropOrphans() {
  for (const path of sourceFolders.flatMap((folder) => files(join("dist", folder)))) {
    const source = relative("dist", path);
    const wanted = emitted.test(path)
      ? existsSync(join(root, source.replace(emitted, ".ts")))
      : existsSync(join(root, source));
    if (!wanted) rmSync(join(root, path));
  }
}

function files(folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((found) => found.isFile())
    .map((found) => relative(root, join(found.parentPath ?? found.path, found.name)))
    .sort();
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const clean = process.argv.includes("--clean");
  const built = await withLock(lockFolder, () => build({ clean }));
  process.exitCode = built ? 0 : 1;
}
