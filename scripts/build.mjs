// TypeScript to dist/, beside it the files that the code reads at run time, and the console to
// dist/console. `--clean` starts from nothing. Everything said goes to standard error.

import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { withLock } from "./lock.mjs";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const lockFolder = join(root, ".holdfast", "setup.lock");

const sourceFolders = ["src", "sim", "bench", "stack", "faults", "migrations"];
const settings = ["tsconfig.json", "tsconfig.build.json", "package.json", "scripts/build.mjs"];
const consoleStamp = join(root, "dist", "console", ".stamp");
const asset = /\.(sql|lua|json|html)$/;
const emitted = /\.(js|js\.map|d\.ts|d\.ts\.map)$/;

/** What was built from what: one line per input. Equal text means an equal build. */
export function inputs() {
  const sources = sourceFolders.flatMap((folder) => files(folder));
  return `${stateOf([...settings, ...sources])}${consoleInputs()}`;
}

function consoleInputs() {
  return stateOf(["package-lock.json", ...files("console")]);
}

function stateOf(paths) {
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
  return buildConsole();
}

/** Only when something of the console's own has changed: it is the slower half. */
function buildConsole() {
  const from = consoleInputs();
  if (existsSync(consoleStamp) && readFileSync(consoleStamp, "utf8") === from) return true;
  const bundler = join(root, "node_modules", "vite", "bin", "vite.js");
  const config = join("console", "vite.config.ts");
  const args = [bundler, "build", "--config", config, "--logLevel", "warn"];
  const run = spawnSync(process.execPath, args, { cwd: root, stdio: ["ignore", 2, 2] });
  if (run.status !== 0) return false;
  writeFileSync(consoleStamp, from);
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
    .filter((found) => found.isFile() && !found.parentPath.includes("node_modules"))
    .map((found) => relative(root, join(found.parentPath, found.name)))
    .sort();
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const clean = process.argv.includes("--clean");
  const built = await withLock(lockFolder, () => build({ clean }));
  process.exitCode = built ? 0 : 1;
}
