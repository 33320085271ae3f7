// Makes a checkout ready to run: the right Node, the locked dependencies, a current dist/. Quiet
// and quick when there is nothing to do. Standard output stays empty: it belongs to what follows.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, inputs, lockFolder, root } from "./build.mjs";
import { withLock } from "./lock.mjs";

const installStamp = join(root, "node_modules", ".holdfast-lock");
const buildStamp = join(root, "dist", ".stamp");

class SetupError extends Error {
  constructor({ what, why, next }) {
    super([what, ...[why].flat().map((line) => `  ${line}`), "", `Next: ${next}`].join("\n"));
  }
}

/** Sets the checkout up, or throws a `SetupError` that says what to do. */
export async function setup() {
  checkNode();
  if (isInstalled() && isBuilt()) return;
  await withLock(lockFolder, installAndBuild, (pid) =>
    say(`another set-up is running here (process ${pid ?? "unknown"}); waiting for it`),
  );
}

function installAndBuild() {
  if (!isInstalled()) install();
  if (!isBuilt()) compile();
}

function checkNode() {
  const { engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const wanted = engines.node.replace(">=", "");
  const [major, minor] = wanted.split(".").map(Number);
  const [ourMajor, ourMinor] = process.versions.node.split(".").map(Number);
  if (ourMajor > major || (ourMajor === major && ourMinor >= minor)) return;
  throw new SetupError({
    what: `Holdfast needs Node.js ${wanted} or later, and this is ${process.versions.node}.`,
    why: `It was started by ${process.execPath}.`,
    next: "install Node.js 22 or 24 from https://nodejs.org, then run the same command again",
  });
}

/** The lock file, and the machine that native parts were compiled for. */
function installKey() {
  const lock = readFileSync(join(root, "package-lock.json"));
  const hash = createHash("sha256").update(lock).digest("hex");
  return `${hash} ${process.platform}-${process.arch}-abi${process.versions.modules}\n`;
}

function isInstalled() {
  return read(installStamp) === installKey();
}

function isBuilt() {
  return read(buildStamp) === inputs();
}

function install() {
  const done = saySteps("installing dependencies (a few minutes if SQLite has to be compiled)");
  const { command, first } = npm();
  const options = ["--include=dev", "--include=optional", "--loglevel=error", "--no-progress"];
  const run = spawnSync(command, [...first, "ci", ...options], {
    cwd: root,
    stdio: ["ignore", 2, 2],
    env: { ...process.env, ...nodeHeaders() },
  });
  if (run.status !== 0) {
    throw new SetupError({
      what: "The dependencies could not be installed.",
      why: run.error
        ? `npm did not start: ${run.error.message}`
        : `\`npm ci\` ended with code ${run.status ?? run.signal}; its own words stand above.`,
      next: "npm ci, once what it complains about is mended (network, proxy, disk)",
    });
  }
  checkSqlite();
  writeFileSync(installStamp, installKey());
  done();
}

/** The npm that runs us, so that one version writes all of node_modules. */
function npm() {
  const path = process.env.npm_execpath;
  if (path?.endsWith("npm-cli.js")) return { command: process.execPath, first: [path] };
  return { command: process.platform === "win32" ? "npm.cmd" : "npm", first: [] };
}

/** Headers that came with Node spare node-gyp a download that many networks do not allow. */
function nodeHeaders() {
  if (process.env.npm_config_nodedir !== undefined) return {};
  const prefix = dirname(dirname(process.execPath));
  const header = join(prefix, "include", "node", "node.h");
  return existsSync(header) ? { npm_config_nodedir: prefix } : {};
}

/** An optional dependency may fail to compile in silence; the default ledger cannot do without. */
function checkSqlite() {
  const probe = `new (require("better-sqlite3"))(":memory:").close()`;
  const run = spawnSync(process.execPath, ["-e", probe], { cwd: root, encoding: "utf8" });
  if (run.status === 0) return;
  const reason = /^\w*Error: .*$/m.exec(run.stderr)?.[0] ?? run.stderr.trim().split("\n")[0];
  throw new SetupError({
    what: "better-sqlite3, which keeps the default ledger, is not usable on this machine.",
    why: [
      reason,
      "Its binary could not be fetched, and it did not compile. Either of these mends it:",
      "- what compiling needs:  apt-get install -y build-essential python3",
      "- a mirror of binaries:  export npm_config_better_sqlite3_binary_host=<mirror's address>",
    ],
    next: "npm rebuild better-sqlite3 --foreground-scripts, which shows the compiler's own words",
  });
}

function compile() {
  const done = saySteps("building");
  rmSync(buildStamp, { force: true });
  // Read before compiling: a file saved meanwhile must make the next set-up build again.
  const from = inputs();
  if (!build()) {
    throw new SetupError({
      what: "The sources do not compile.",
      why: "The compiler's messages stand above, each with its file and line.",
      next: "npm run types, until it is silent",
    });
  }
  writeFileSync(buildStamp, from);
  done();
}

function read(path) {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

function say(text) {
  process.stderr.write(`holdfast: ${text}\n`);
}

function saySteps(text) {
  const start = Date.now();
  say(`${text} …`);
  return () => say(`done in ${((Date.now() - start) / 1000).toFixed(1)} s`);
}

/** For scripts that begin with a set-up: says what failed and ends the process. */
export async function setupOrExit() {
  try {
    await setup();
  } catch (error) {
    process.stderr.write(`\n${error instanceof SetupError ? error.message : error.stack}\n`);
    process.exit(1);
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await setupOrExit();
}
