import ts from "typescript";
import { allows, casts } from "./allowances.ts";
import {
  at,
  eachFile,
  eachNode,
  type Finding,
  isTest,
  matchingLines,
  nodes,
  type Project,
  type Rule,
  type SourceFile,
} from "./project.ts";

const code = /\.(ts|tsx)$/;
const ignoring = new RegExp(`@ts-${"ignore|nocheck|expect-error"}`.replaceAll("|", "|@ts-"));

const noAny: Rule = {
  name: "no `any`: what is not known yet is `unknown`",
  check: eachNode(code, (node) => (node.kind === ts.SyntaxKind.AnyKeyword ? "`any`" : undefined)),
  planted: [{ "src/a.ts": "const x: any = 1;\n" }, { "test/a.test.ts": "const x = y as any;\n" }],
  clean: { "src/a.ts": 'const any: unknown = "any";\n' },
};

const noNonNull: Rule = {
  name: "no `!`: the compiler is shown, not told",
  check: eachNode(code, (node) => {
    if (ts.isNonNullExpression(node)) return "`!` after an expression";
    const declared = ts.isVariableDeclaration(node) || ts.isPropertyDeclaration(node);
    return declared && node.exclamationToken !== undefined ? "`!` on a declaration" : undefined;
  }),
  planted: [{ "src/a.ts": "f(x!);\n" }, { "src/a.ts": "class A { x!: number; }\n" }],
  clean: { "src/a.ts": "if (!x) f(x !== y);\n" },
};

const noCast: Rule = {
  name: "no `as` outside parsers and tests",
  check: (project) => [
    ...eachNode(code, (node, file) => {
      if (!isCast(node) || isTest(file.path)) return undefined;
      return casts.some((allowance) => allows(allowance, file.path))
        ? undefined
        : `\`${node.getText().slice(0, 60)}\`: parse, or list the file in tidy/allowances.ts`;
    })(project),
    ...uselessCastAllowances(project),
  ],
  planted: [
    { "src/a.ts": "const x = y as Z;\n" },
    { "sim/a.ts": "const x = y as unknown as Z;\n" },
    { "src/domain/values.ts": "export const x = 1;\n" },
  ],
  clean: {
    "src/a.ts": "const x = [1] as const satisfies readonly number[];\n",
    "src/a.test.ts": "const x = y as Z;\n",
    "src/domain/values.ts": "const x = y as Z;\n",
  },
};

const noIgnore: Rule = {
  name: "the compiler is not silenced",
  check: eachFile(code, (file) =>
    isTest(file.path) ? [] : matchingLines(file, ignoring, "a compiler error is silenced"),
  ),
  planted: [{ "src/a.ts": `// @ts-${"ignore"}\nf();\n` }],
  clean: { "src/a.test-d.ts": `// @ts-${"expect-error"}\nf();\n` },
};

const noDefault: Rule = {
  name: "named exports only",
  check: eachNode(code, (node, file) => {
    if (file.path === "vitest.config.ts" || file.path.endsWith("vite.config.ts")) return undefined;
    return isDefaultExport(node) ? "a default export" : undefined;
  }),
  planted: [
    { "src/a.ts": "export default 1;\n" },
    { "src/a.ts": "export default function f() {}\n" },
    { "src/a.ts": "const x = 1;\nexport { x as default };\n" },
  ],
  clean: { "src/a.ts": "export const x = 1;\n", "vitest.config.ts": "export default 1;\n" },
};

const noBarrel: Rule = {
  name: "no barrel but src/index.ts",
  check: eachFile(/^(src|sim|bench|test)\/.*\.ts$/, function* (file) {
    if (file.path !== "src/index.ts") yield* barrelFindings(file);
  }),
  planted: [
    { "src/domain/index.ts": "export const x = 1;\n" },
    { "src/domain/all.ts": 'export * from "./a.ts";\nexport const x = 1;\n' },
    { "src/domain/all.ts": 'export { a } from "./a.ts";\n' },
  ],
  clean: {
    "src/index.ts": 'export * from "./a.ts";\n',
    "src/a.ts": 'export { type B } from "./b.ts";\nexport const x = 1;\n',
  },
};

function isCast(node: ts.Node): node is ts.AsExpression | ts.TypeAssertion {
  if (ts.isTypeAssertionExpression(node)) return true;
  return ts.isAsExpression(node) && node.type.getText() !== "const";
}

function uselessCastAllowances(project: Project): Finding[] {
  return casts.flatMap((allowance) => {
    const file = project.get(allowance.path);
    if (file === undefined || [...nodes(file)].some(isCast)) return [];
    return [{ path: file.path, line: 1, message: "may cast (tidy/allowances.ts) and does not" }];
  });
}

function isDefaultExport(node: ts.Node): boolean {
  if (ts.isExportAssignment(node)) return true;
  if (ts.isExportSpecifier(node)) return node.name.text === "default";
  return node.kind === ts.SyntaxKind.DefaultKeyword && ts.isDeclarationStatement(node.parent);
}

function* barrelFindings(file: SourceFile): Generator<Finding> {
  if (/(^|\/)index\.ts$/.test(file.path)) {
    yield { path: file.path, line: 1, message: "an index file outside src/" };
  }
  const statements = file.tree?.statements ?? [];
  const passedOn = statements.filter(
    (node) => ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined,
  );
  const [first] = passedOn;
  if (first !== undefined && passedOn.length === statements.length) {
    yield at(file, first, "nothing but re-exports");
  }
  for (const node of passedOn) {
    const isStar = ts.isExportDeclaration(node) && node.exportClause === undefined;
    if (isStar) yield at(file, node, "`export *`");
  }
}

export const typeRules: readonly Rule[] = [noAny, noNonNull, noCast, noIgnore, noDefault, noBarrel];
