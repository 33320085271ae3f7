import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** `0.1.0 (commit 1a2b3c4)`: the commit only in a checkout. */
export function versionLine(): string {
  const root = packageRoot();
  const commit = commitOf(join(root, ".git"));
  return commit === null ? version(root) : `${version(root)} (commit ${commit.slice(0, 10)})`;
}

export function version(root: string = packageRoot()): string {
  const found: unknown = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const isNamed = typeof found === "object" && found !== null && "version" in found;
  return isNamed ? String(found.version) : "0.0.0";
}

/** The nearest folder above with our package.json: the same from the sources and from dist/. */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json")) && folder !== dirname(folder)) {
    folder = dirname(folder);
  }
  return folder;
}

function commitOf(git: string): string | null {
  try {
    const folder = gitFolder(git);
    const head = readFileSync(join(folder, "HEAD"), "utf8").trim();
    const reference = /^ref: (.+)$/.exec(head)?.[1];
    return reference === undefined ? head : resolveReference(folder, reference);
  } catch {
    return null;
  }
}

/** In a worktree `.git` is a file that names the folder. */
function gitFolder(git: string): string {
  if (statSync(git).isDirectory()) return git;
  const named = /^gitdir: (.+)$/m.exec(readFileSync(git, "utf8"))?.[1];
  return named === undefined ? git : resolve(dirname(git), named.trim());
}

function resolveReference(folder: string, reference: string): string | null {
  const shared = join(folder, "commondir");
  const common = existsSync(shared) ? resolve(folder, readFileSync(shared, "utf8").trim()) : folder;
  const loose = join(common, reference);
  if (existsSync(loose)) return readFileSync(loose, "utf8").trim();
  const packed = readFileSync(join(common, "packed-refs"), "utf8");
  return (
    packed
      .split("\n")
      .find((line) => line.endsWith(` ${reference}`))
      ?.slice(0, 40) ?? null
  );
}
