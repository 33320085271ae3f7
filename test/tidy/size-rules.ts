import ts from "typescript";
import { at, eachFile, eachNode, type Rule, type SourceFile } from "./project.ts";

const lineMax = 100;
const functionLinesMax = 60;
const fileLinesMax = 400;
const scriptLinesMax = 60;
const parametersMax = 4;

const code = /^(src|test|sim|bench|scripts|examples|console)\/.*\.(ts|tsx|mjs)$|^[\w.-]+\.ts$/;
const written = /^(src|test|sim|bench|scripts|examples|migrations)\/.*\.(ts|tsx|mjs|lua|sql)$/;

const lines: Rule = {
  name: `a line has at most ${lineMax} columns`,
  check: eachFile(written, function* (file) {
    if (file.path.startsWith("test/golden/")) return;
    for (const [index, line] of file.text.split("\n").entries()) {
      const columns = Array.from(line).length;
      if (columns <= lineMax) continue;
      yield { path: file.path, line: index + 1, message: `${columns} columns` };
    }
  }),
  planted: [{ "src/domain/a.ts": `// ${"x".repeat(lineMax)}\n` }],
  clean: { "src/domain/a.ts": `${"x".repeat(lineMax)}\n` },
};

const functions: Rule = {
  name: `a function has at most ${functionLinesMax} lines`,
  check: eachNode(code, (node, file) => {
    if (!isFunctionWithBody(node) || isSuite(node)) return undefined;
    const length = lineCount(node, file);
    return length > functionLinesMax ? `a function of ${length} lines` : undefined;
  }),
  planted: [
    { "src/a.ts": `function f() {\n${"  g();\n".repeat(functionLinesMax)}}\n` },
    { "src/a.ts": `const o = { m() {\n${"  g();\n".repeat(functionLinesMax)}} };\n` },
    { "src/a.test.ts": `it("x", () => {\n${"  g();\n".repeat(functionLinesMax)}});\n` },
  ],
  clean: {
    "src/a.ts": `function f() {\n${"  g();\n".repeat(functionLinesMax - 2)}}\n`,
    "src/a.test.ts": `describe("x", () => {\n${"  g();\n".repeat(functionLinesMax)}});\n`,
  },
};

const files: Rule = {
  name: `a file has at most ${fileLinesMax} lines, a Lua script ${scriptLinesMax}`,
  check: eachFile(written, function* (file) {
    if (!/\.(ts|tsx|mjs|lua)$/.test(file.path)) return;
    const max = file.path.endsWith(".lua") ? scriptLinesMax : fileLinesMax;
    const count = file.text.replace(/\n$/, "").split("\n").length;
    if (count > max) yield { path: file.path, line: max + 1, message: `${count} lines` };
  }),
  planted: [
    { "src/a.ts": "g();\n".repeat(fileLinesMax + 1) },
    { "src/hot-stock/lua/a.lua": "x = 1\n".repeat(scriptLinesMax + 1) },
  ],
  clean: { "src/a.ts": "g();\n".repeat(fileLinesMax) },
};

const parameters: Rule = {
  name: `a function takes at most ${parametersMax} parameters, then one options object`,
  check: eachNode(code, (node) => {
    if (!ts.isFunctionLike(node)) return undefined;
    const own = node.parameters.filter((parameter) => parameter.name.getText() !== "this");
    return own.length > parametersMax ? `${own.length} parameters` : undefined;
  }),
  planted: [
    { "src/a.ts": "function f(a, b, c, d, e) {}\n" },
    { "src/a.ts": "type F = (a: 1, b: 1, c: 1, d: 1, e: 1) => void;\n" },
    { "src/a.ts": "interface Port { f(a: 1, b: 1, c: 1, d: 1, e: 1): void }\n" },
  ],
  clean: { "src/a.ts": "function f(this: X, a, b, c, d) {}\n" },
};

function isFunctionWithBody(node: ts.Node): node is ts.FunctionLikeDeclaration {
  return ts.isFunctionLike(node) && "body" in node && node.body !== undefined;
}

/** A `describe` is a folder of tests, not a function: it has no order to follow. */
function isSuite(node: ts.Node): boolean {
  const call = node.parent;
  if (!ts.isCallExpression(call)) return false;
  return /^describe\b/.test(call.expression.getText());
}

function lineCount(node: ts.Node, file: SourceFile): number {
  const tree = node.getSourceFile();
  const last = tree.getLineAndCharacterOfPosition(node.getEnd()).line + 1;
  return last - at(file, node, "").line + 1;
}

export const sizeRules: readonly Rule[] = [lines, functions, files, parameters];
