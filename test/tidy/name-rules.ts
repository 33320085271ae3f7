import ts from "typescript";
import { eachFile, eachNode, type Finding, matchingLines, type Rule } from "./project.ts";

const vague = ["util", "utils", "helper", "helpers", "common", "manager", "base", "impl"];
const kebab = /^[a-z0-9]+(-[a-z0-9]+)*(\.(test|test-d|model\.test|config))?$/;
const sources =
  /^(src|test|sim|bench|stack|faults|examples|scripts|console\/src)\/.*\.(ts|tsx|mjs|lua)$/;
const suites = /^(describe|it|test|suite)$/;

/** Where a test is picked up by a project of vitest.config.ts. */
const layers = "contract|integration|cases|stack|console";
const projects = new RegExp(
  `^(src/.+|sim/.+|faults/.+|test/(${layers})/.+|test/[^/]+|console/.+)\\.test\\.tsx?$`,
);

const fileNames: Rule = {
  name: "files are kebab-case and named for what they hold",
  check: eachFile(sources, function* (file) {
    const parts = file.path.replace(/\.(ts|tsx|mjs|lua)$/, "").split("/");
    for (const part of parts) {
      const word = part.split(/[-.]/).find((piece) => vague.includes(piece));
      if (!kebab.test(part))
        yield { path: file.path, line: 1, message: `"${part}" is not kebab-case` };
      if (word !== undefined) yield { path: file.path, line: 1, message: `"${word}" says nothing` };
    }
  }),
  planted: [
    { "src/engine/groupCommit.ts": "" },
    { "src/engine/Group.ts": "" },
    { "src/utils/a.ts": "" },
    { "src/engine/stock-helpers.ts": "" },
    { "src/hot-stock/lua/base.lua": "" },
  ],
  clean: { "src/hot-stock/hot-stock.ts": "", "test/contract/bus.model.test.ts": "" },
};

const migrationNames: Rule = {
  name: "a migration is named NNNN_name.sql",
  check: eachFile(/(^|\/)migrations\/.*\.sql$/, function* (file) {
    const name = file.path.split("/").at(-1) ?? "";
    if (/^\d{4}_[a-z0-9_]+\.sql$/.test(name)) return;
    yield { path: file.path, line: 1, message: `"${name}"` };
  }),
  planted: [{ "src/ledger/migrations/sqlite/ledger.sql": "" }],
  clean: { "src/ledger/migrations/sqlite/0001_ledger.sql": "" },
};

const everyTestRuns: Rule = {
  name: "every test runs, and belongs to a project",
  check: (project) => [
    ...eachNode(/\.test\.tsx?$/, (node) => {
      if (ts.isIdentifier(node) && /^x(it|test|describe)$/.test(node.text))
        return `\`${node.text}\``;
      if (!ts.isPropertyAccessExpression(node)) return undefined;
      const isSuite = suites.test(node.expression.getText().split(/[.(]/)[0] ?? "");
      return isSuite && /^(skip|only|todo|fails)$/.test(node.name.text)
        ? `\`${node.getText()}\``
        : undefined;
    })(project),
    ...eachFile(/\.test\.tsx?$/, (file) =>
      projects.test(file.path)
        ? []
        : [{ path: file.path, line: 1, message: "no project of vitest.config.ts runs this" }],
    )(project),
  ],
  planted: [
    { "src/a.test.ts": 'it.skip("x", f);\n' },
    { "src/a.test.ts": 'describe.only("x", f);\n' },
    { "src/a.test.ts": 'test.todo("x");\n' },
    { "src/a.test.ts": 'it.skip.each([1])("x", f);\n' },
    { "bench/a.test.ts": 'it("x", f);\n' },
    { "test/support/a.test.ts": 'it("x", f);\n' },
  ],
  clean: { "test/a.test.ts": 'it.each([1])("x", f);\nworld.only("x");\n' },
};

/** Spelled in pieces, or the rule would find itself. */
const todo = `TO${"DO"}`;
const others = ["FIX", "ME", "X", "XX", "HA", "CK"];
const marker = new RegExp(`(?<!@)\\b${todo}\\b|@${todo}(?!\\()|\\b(${joined(others)})\\b`);

const markers: Rule = {
  name: `the only marker of work to do is @${todo}(issue)`,
  check: eachFile(/^(src|sim|bench|test|scripts)\/.*\.(ts|tsx|mjs|lua|sql)$/, (file) =>
    matchingLines(file, marker, "a marker without its issue"),
  ),
  planted: [{ "src/a.ts": `// ${todo}: later\n` }, { "src/a.ts": `// ${joined(others)}\n` }],
  clean: { "src/a.ts": `// @${todo}(#12) lift the limit\n` },
};

/** Spelled in pieces, or the rule would find itself. */
const foreignPaths = [`..${"/shared"}`, `/${"work"}/`, `.${"library"}`];
const registryHosts = ["registry.npm", "npmmirror", "registry.yarnpkg", "deb.debian"];

const ownWorld: Rule = {
  name: "nothing refers to a place outside the repository",
  check: eachFile(/./, function* (file): Generator<Finding> {
    if (file.path === "test/tidy/name-rules.ts") return;
    for (const text of [...foreignPaths, ...registryHosts]) {
      const pattern = new RegExp(text.replaceAll(".", "\\."));
      yield* matchingLines(file, pattern, `"${text}"`);
    }
  }),
  planted: [
    ...foreignPaths.map((text) => ({ "docs/a.md": `see ${text}x\n` })),
    { "package.json": `{ "x": "https://${registryHosts[0]}js.org" }\n` },
  ],
  clean: { "docs/a.md": "see docs/shared.md and src/work.ts\n" },
};

function joined(halves: readonly string[]): string {
  const words = halves.flatMap((half, at) => (at % 2 === 0 ? [half + (halves[at + 1] ?? "")] : []));
  return words.join("|");
}

export const nameRules: readonly Rule[] = [
  fileNames,
  migrationNames,
  everyTestRuns,
  markers,
  ownWorld,
];
