import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

export type SourceFile = Readonly<{ path: string; text: string; tree: ts.SourceFile | undefined }>;
export type Project = ReadonlyMap<string, SourceFile>;
export type Finding = Readonly<{ path: string; line: number; message: string }>;

/**
 * One rule of STYLE.md. `planted` holds small projects that break it, each in one way, and `clean`
 * one that does not: a rule that cannot fail says nothing.
 */
export type Rule = Readonly<{
  name: string;
  check(project: Project): Finding[];
  planted: readonly Readonly<Record<string, string>>[];
  clean: Readonly<Record<string, string>>;
}>;

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const skippedFolders = new Set([".git", "node_modules", "dist", "coverage", ".holdfast"]);
const readable = /(\.(ts|tsx|mjs|js|lua|sql|json|md|ya?ml|html|css|sh|txt)|^\.ci\/run|rc)$/;
const isScript = /\.(ts|tsx|mjs)$/;

/** The texts of this repository that people write. */
export function loadProject(): Project {
  const paths = walk(root).map((path) => relative(root, path).replaceAll("\\", "/"));
  const wanted = paths.filter((path) => readable.test(path) && path !== "package-lock.json");
  return parseProject(
    Object.fromEntries(wanted.map((path) => [path, readFileSync(join(root, path), "utf8")])),
  );
}

export function parseProject(texts: Readonly<Record<string, string>>): Project {
  const files = Object.entries(texts).map(([path, text]): [string, SourceFile] => {
    const tree = isScript.test(path)
      ? ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true)
      : undefined;
    return [path, { path, text, tree }];
  });
  return new Map(files);
}

/** A rule over one file at a time. */
export function eachFile(
  wanted: RegExp,
  check: (file: SourceFile) => Iterable<Finding>,
): (project: Project) => Finding[] {
  return (project) =>
    [...project.values()].filter((file) => wanted.test(file.path)).flatMap((f) => [...check(f)]);
}

/** A rule over one syntax node at a time; the answer is the complaint, if there is one. */
export function eachNode(
  wanted: RegExp,
  complain: (node: ts.Node, file: SourceFile) => string | undefined,
): (project: Project) => Finding[] {
  return eachFile(wanted, function* (file) {
    for (const node of nodes(file)) {
      const message = complain(node, file);
      if (message !== undefined) yield at(file, node, message);
    }
  });
}

export function* nodes(file: SourceFile): Generator<ts.Node> {
  if (file.tree !== undefined) yield* descend(file.tree);
}

function* descend(node: ts.Node): Generator<ts.Node> {
  yield node;
  for (const child of childrenOf(node)) yield* descend(child);
}

function childrenOf(node: ts.Node): ts.Node[] {
  const children: ts.Node[] = [];
  ts.forEachChild(node, (child) => {
    children.push(child);
  });
  return children;
}

export function at(file: SourceFile, node: ts.Node, message: string): Finding {
  const tree = node.getSourceFile();
  return {
    path: file.path,
    line: tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1,
    message,
  };
}

/** Lines of a text that match, as findings. */
export function* matchingLines(
  file: SourceFile,
  pattern: RegExp,
  message: string,
): Generator<Finding> {
  for (const [index, line] of file.text.split("\n").entries()) {
    if (pattern.test(line)) yield { path: file.path, line: index + 1, message };
  }
}

export function isTest(path: string): boolean {
  return path.startsWith("test/") || /\.(test|test-d)\.ts$/.test(path);
}

function walk(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return skippedFolders.has(entry.name) ? [] : walk(path);
    return entry.isFile() ? [path] : [];
  });
}
