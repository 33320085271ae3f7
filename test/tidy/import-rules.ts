import { posix } from "node:path";
import ts from "typescript";
import { drivers } from "./allowances.ts";
import {
  at,
  eachFile,
  isTest,
  nodes,
  type Project,
  type Rule,
  type SourceFile,
} from "./project.ts";

type Import = Readonly<{ node: ts.Node; target: string; isType: boolean }>;

const ports = ["hot-stock/hot-stock", "ledger/ledger", "bus/bus", "outlet/outlet"].map(
  (it) => `src/${it}.ts`,
);
/** The doctor looks beneath the ports, over connections of its own. */
const stores = ["src/hot-stock/", "src/ledger/", "src/bus/"];
const shared = ["clock", "events", "logger", "config", "config-error", "config-values"].map(
  (it) => `src/${it}.ts`,
);
const contracts = ["src/http/contract.ts", "src/http/contract-batch.ts"];
const inner = ["src/domain/", ...shared];

/** Who may import whom. The first row whose name fits a file holds; everybody may import itself. */
const table: readonly Readonly<{ who: RegExp; may: readonly string[] }>[] = [
  { who: /^src\/(index|wire)\.ts$/, may: ["src/"] },
  { who: /^src\/domain\//, may: ["src/domain/"] },
  { who: /^src\/(clock|events|logger|config|config-error|config-values)\.ts$/, may: inner },
  { who: /^src\/(hot-stock\/hot-stock|ledger\/ledger|bus\/bus|outlet\/outlet)\.ts$/, may: inner },
  { who: /^src\/redis\//, may: [...inner, "src/redis/"] },
  { who: /^src\/hot-stock\//, may: [...inner, "src/redis/", "src/hot-stock/"] },
  { who: /^src\/ledger\//, may: [...inner, "src/ledger/"] },
  { who: /^src\/bus\//, may: [...inner, "src/redis/", "src/bus/"] },
  // Over the clients that the bus has, and asked back about the ledger.
  {
    who: /^src\/outlet\//,
    may: [...inner, "src/ledger/ledger.ts", "src/redis/", "src/bus/", "src/outlet/"],
  },
  { who: /^src\/engine\//, may: [...inner, ...ports, "src/engine/"] },
  { who: /^src\/workers\//, may: [...inner, ...ports, "src/engine/", "src/workers/"] },
  {
    who: /^src\/doctor\//,
    may: [...inner, ...ports, "src/engine/engine.ts", ...stores, "src/doctor/"],
  },
  {
    who: /^src\/http\//,
    may: [...inner, ...ports, "src/engine/", "src/workers/", "src/doctor/", "src/http/"],
  },
  // What a caller needs of the server is its contract.
  { who: /^src\/client\//, may: [...inner, ...contracts, "src/client/"] },
  { who: /^src\/loadtest\//, may: [...inner, ...contracts, "src/client/", "src/loadtest/"] },
  {
    who: /^src\/cli\//,
    may: [
      ...inner,
      ...ports,
      ...["src/engine/", "src/workers/", "src/http/", "src/doctor/"],
      ...["src/client/", "src/loadtest/", "src/cli/"],
      "src/wire.ts",
    ],
  },
  { who: /^console\//, may: ["console/", "src/http/contract.ts"] },
  { who: /^examples\//, may: ["examples/", "src/index.ts"] },
  { who: /^(sim|test)\//, may: ["src/", "sim/", "test/", "bench/"] },
  { who: /^bench\//, may: ["src/", "bench/", "stack/"] },
  // It starts what others use, and knows nothing of them.
  { who: /^stack\//, may: ["stack/"] },
  { who: /^faults\//, may: ["src/", "sim/", "stack/", "faults/"] },
];

/** Hashing is arithmetic; nothing else of Node, and no package, belongs to the rules. */
const domainModules = ["node:crypto"];

const directions: Rule = {
  name: "imports point inwards: domain, ports, engine, workers, the edges, wire",
  check: eachFile(/^(src|sim|bench|stack|console|examples)\/.*\.tsx?$/, function* (file) {
    if (isTest(file.path)) return;
    const row = table.find(({ who }) => who.test(file.path));
    if (row === undefined) {
      yield { path: file.path, line: 1, message: "this folder has no row in tidy/import-rules.ts" };
      return;
    }
    for (const { node, target, isType } of importsOf(file)) {
      const isAllowed = row.may.some((may) => fits(may, target));
      // The browser shares types with the server and no code.
      const isCode = file.path.startsWith("console/") && target.startsWith("src/") && !isType;
      if (!isPath(target) || (isAllowed && !isCode)) continue;
      yield at(file, node, `must not import ${target}`);
    }
  }),
  planted: [
    { "src/domain/a.ts": 'import { b } from "../ledger/ledger.ts";\n' },
    { "src/domain/a.ts": 'import { b } from "../clock.ts";\n' },
    { "src/bus/bus.ts": 'import { b } from "./memory.ts";\n' },
    { "src/bus/memory.ts": 'import { b } from "../ledger/ledger.ts";\n' },
    { "src/engine/a.ts": 'import type { B } from "../hot-stock/memory.ts";\n' },
    { "src/engine/a.ts": 'import { b } from "../workers/worker.ts";\n' },
    { "src/workers/a.ts": 'const b = await import("../ledger/sqlite.ts");\n' },
    { "src/http/a.ts": 'export { b } from "../cli/b.ts";\n' },
    { "src/loadtest/a.ts": 'import { b } from "../engine/b.ts";\n' },
    { "src/cli/a.ts": 'import { b } from "../ledger/sqlite.ts";\n' },
    { "src/engine/a.ts": 'import { b } from "../../sim/world.ts";\n' },
    { "src/engine/a.ts": 'import { b } from "../../test/support/b.ts";\n' },
    { "src/engine/a.ts": 'import { b } from "./b.test.ts";\n' },
    { "stack/redis.ts": 'import { b } from "../src/config.ts";\n' },
    { "console/src/api.ts": 'import { b } from "../../src/http/contract.ts";\n' },
    { "src/novel/a.ts": "export const x = 1;\n" },
  ],
  clean: {
    "src/domain/a.ts": 'import { b } from "./b.ts";\n',
    "src/engine/a.ts": 'import type { B } from "../bus/bus.ts";\nimport { c } from "./c.ts";\n',
    "src/engine/a.test.ts": 'import { b } from "../bus/memory.ts";\n',
    "src/wire.ts": 'const b = await import("./bus/memory.ts");\n',
    "src/cli/main.ts": 'import { b } from "../wire.ts";\n',
    "console/src/api.ts": 'import type { B } from "../../src/http/contract.ts";\n',
    "sim/world.ts": 'import { b } from "../src/bus/memory.ts";\n',
  },
};

const pureDomain: Rule = {
  name: "the domain depends on nothing",
  check: eachFile(/^src\/domain\/.*\.ts$/, function* (file) {
    if (isTest(file.path)) return;
    for (const { node, target } of importsOf(file)) {
      if (isPath(target) || domainModules.includes(target)) continue;
      yield at(file, node, `must not import ${target}`);
    }
  }),
  planted: [
    { "src/domain/a.ts": 'import { Type } from "typebox";\n' },
    { "src/domain/a.ts": 'import { readFile } from "node:fs/promises";\n' },
  ],
  clean: { "src/domain/a.ts": 'import { createHash } from "node:crypto";\n' },
};

const ownDriver: Rule = {
  name: "a driver is imported only by its adapter",
  check: eachFile(/^src\/.*\.ts$/, function* (file) {
    if (isTest(file.path)) return;
    for (const { node, target } of importsOf(file)) {
      const home = Object.entries(drivers).find(
        ([name]) => target === name || target.startsWith(`${name}/`),
      )?.[1];
      if (home === undefined || home.split(" or ").some((it) => file.path.startsWith(it))) continue;
      yield at(file, node, `${target} belongs to ${home}`);
    }
  }),
  planted: [
    { "src/engine/a.ts": 'import mysql from "mysql2/promise";\n' },
    { "src/wire.ts": 'const db = await import("better-sqlite3");\n' },
  ],
  clean: { "src/ledger/sqlite.ts": 'const db = await import("better-sqlite3");\n' },
};

const entries = [
  "src/index.ts",
  "src/client/client.ts",
  "src/cli/main.ts",
  "sim/main.ts",
  "sim/plant-register.ts",
  "bench/main.ts",
  "stack/main.ts",
  "faults/main.ts",
  "faults/failpoint-register.ts",
  "vitest.config.ts",
];

const noOrphans: Rule = {
  name: "every file is reached from an entry point",
  check: (project) => {
    // Half a tree has no way in yet: the command line is what ties it together.
    if (!project.has("src/cli/main.ts")) return [];
    const reached = reach(project);
    return [...project.keys()]
      .filter((path) => /^(src|sim|bench|stack|test)\/.*\.ts$/.test(path) && !reached.has(path))
      .map((path) => ({ path, line: 1, message: "nothing imports this file" }));
  },
  planted: [
    { "src/cli/main.ts": "run();\n", "src/engine/a.ts": "export const x = 1;\n" },
    {
      "src/cli/main.ts": "run();\n",
      "src/engine/a.ts": "export const x = 1;\n",
      "src/engine/a.test.ts": 'import { x } from "./a.ts";\n',
    },
  ],
  clean: {
    "src/cli/main.ts": 'import { a } from "../a.ts";\n',
    "src/a.ts": 'const b = await import("./b.ts");\nnew Worker(new URL("./c.js", here));\n',
    "src/b.ts": "",
    "src/c.ts": "",
    "test/x.test.ts": 'import { y } from "./support/y.ts";\n',
    "test/support/y.ts": "",
  },
};

/** Production files count as reached only from production entries, tests from anywhere. */
function reach(project: Project): Set<string> {
  const reached = new Set<string>();
  const visit = (path: string): void => {
    const file = project.get(path);
    if (file === undefined || reached.has(path)) return;
    reached.add(path);
    for (const target of mentions(file, project)) visit(target);
  };
  for (const entry of entries) visit(entry);
  const production = new Set(reached);
  for (const path of project.keys()) if (/\.(test|test-d)\.ts$/.test(path)) visit(path);
  return new Set(
    [...reached].filter((path) => !path.startsWith("src/") || isTest(path) || production.has(path)),
  );
}

/** Every relative path that a file spells and that exists: imports, workers, child processes. */
function mentions(file: SourceFile, project: Project): string[] {
  return [...nodes(file)]
    .filter((node) => ts.isStringLiteral(node))
    .filter((node) => node.text.startsWith("."))
    .map((node) => resolve(file, node.text))
    .filter((path) => project.has(path));
}

function* importsOf(file: SourceFile): Generator<Import> {
  for (const node of nodes(file)) {
    const specifier = specifierOf(node);
    if (specifier === undefined) continue;
    const isType = ts.isImportDeclaration(node) && node.importClause?.isTypeOnly === true;
    const target = specifier.startsWith(".") ? resolve(file, specifier) : specifier;
    yield { node, target, isType };
  }
}

function specifierOf(node: ts.Node): string | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
    const specifier = node.moduleSpecifier;
    return specifier !== undefined && ts.isStringLiteral(specifier) ? specifier.text : undefined;
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    return ts.isStringLiteral(node.argument.literal) ? node.argument.literal.text : undefined;
  }
  if (!ts.isCallExpression(node) || node.expression.kind !== ts.SyntaxKind.ImportKeyword) {
    return undefined;
  }
  const [argument] = node.arguments;
  return argument !== undefined && ts.isStringLiteral(argument) ? argument.text : undefined;
}

function resolve(file: SourceFile, specifier: string): string {
  return posix.join(posix.dirname(file.path), specifier).replace(/\.js$/, ".ts");
}

function isPath(target: string): boolean {
  return /\.(ts|tsx|json)$/.test(target) || /^(src|sim|test|bench|console)\//.test(target);
}

function fits(may: string, target: string): boolean {
  if (/\.test\.ts$/.test(target)) return false;
  return may.endsWith("/") ? target.startsWith(may) : target === may;
}

export const importRules: readonly Rule[] = [directions, pureDomain, ownDriver, noOrphans];
