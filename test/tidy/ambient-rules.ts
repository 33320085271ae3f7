import ts from "typescript";
import { type Ambient, allows, ambient } from "./allowances.ts";
import { eachNode, isTest, type Rule } from "./project.ts";

const members: readonly Ambient[] = [
  "Date.now",
  "Math.random",
  "performance.now",
  "performance.timeOrigin",
  "process.hrtime",
  "process.env",
  "process.exit",
  "AbortSignal.timeout",
];
const names: readonly Ambient[] = ["setTimeout", "setInterval", "setImmediate", "randomUUID"];
const timerModules = /^(node:)?timers(\/promises)?$/;

/** Time, chance and surroundings come in as arguments, so that the simulator can turn them. */
export const ambientRules: readonly Rule[] = [
  {
    name: "time, chance and surroundings come in as arguments",
    check: eachNode(/^(src|sim|bench|examples)\/.*\.(ts|tsx)$/, (node, file) => {
      if (isTest(file.path)) return undefined;
      const found = ambientName(node);
      if (found === undefined || isAllowed(found, file.path)) return undefined;
      return `\`${found}\`: take a Clock, a Random or the Config instead`;
    }),
    planted: [
      { "src/engine/a.ts": "const x = Date.now();\n" },
      { "src/engine/a.ts": "const x = new Date();\n" },
      { "src/engine/a.ts": "const x = Date();\n" },
      { "src/engine/a.ts": "const x = Math.random();\n" },
      { "src/engine/a.ts": 'import { randomUUID } from "node:crypto";\n' },
      { "src/engine/a.ts": "const x = crypto.randomUUID();\n" },
      { "src/engine/a.ts": "setTimeout(f, 1);\n" },
      { "src/engine/a.ts": "globalThis.setInterval(f, 1);\n" },
      { "src/engine/a.ts": "await new Promise(setImmediate);\n" },
      { "src/engine/a.ts": 'import { setTimeout as sleep } from "node:timers/promises";\n' },
      { "src/engine/a.ts": 'import * as timers from "node:timers/promises";\n' },
      { "src/engine/a.ts": 'const x = process.env["HOME"];\n' },
      { "src/engine/a.ts": 'import { env } from "node:process";\n' },
      { "src/engine/a.ts": "const x = performance.now();\n" },
      { "src/engine/a.ts": "const { now } = performance;\n" },
      { "src/http/a.ts": "process.exit(1);\n" },
      { "sim/world.ts": "setTimeout(f, 1);\n" },
    ],
    clean: {
      "src/engine/a.ts":
        "type T = ReturnType<typeof setTimeout>;\nconst at = new Date(ms);\nclock.now();\n",
      "src/engine/a.test.ts": "const x = Date.now();\n",
      "src/clock.ts": "const x = Date.now();\n",
      "sim/world.ts": "await new Promise((resolve) => setImmediate(resolve));\n",
    },
  },
];

function ambientName(node: ts.Node): Ambient | undefined {
  if (ts.isPropertyAccessExpression(node)) return memberName(node.expression, node.name.text);
  if (ts.isNewExpression(node) || ts.isCallExpression(node)) return dateName(node);
  if (ts.isImportDeclaration(node)) return importName(node);
  if (ts.isVariableDeclaration(node)) return destructuredName(node);
  if (!ts.isIdentifier(node) || !isUse(node)) return undefined;
  return names.find((name) => name === node.text);
}

function memberName(object: ts.Expression, member: string): Ambient | undefined {
  const path = `${object.getText()}.${member}`.replace(/^(globalThis|global)\./, "");
  return members.find((name) => name === path) ?? names.find((name) => name === member);
}

function dateName(node: ts.NewExpression | ts.CallExpression): Ambient | undefined {
  const isNow = node.expression.getText() === "Date" && (node.arguments ?? []).length === 0;
  return isNow ? "new Date()" : undefined;
}

function importName(node: ts.ImportDeclaration): Ambient | undefined {
  if (!ts.isStringLiteral(node.moduleSpecifier)) return undefined;
  const from = node.moduleSpecifier.text;
  if (timerModules.test(from)) return "setTimeout";
  const bindings = node.importClause?.namedBindings;
  if (bindings === undefined || !ts.isNamedImports(bindings)) return undefined;
  const imported = bindings.elements.map((element) => (element.propertyName ?? element.name).text);
  const module = from.replace(/^node:/, "");
  return (
    members.find((name) => imported.some((item) => `${module}.${item}` === name)) ??
    names.find((name) => imported.includes(name))
  );
}

/** `const { env } = process` reaches for the same thing as `process.env`. */
function destructuredName(node: ts.VariableDeclaration): Ambient | undefined {
  if (!ts.isObjectBindingPattern(node.name) || node.initializer === undefined) return undefined;
  const object = node.initializer;
  return node.name.elements
    .map((element) => memberName(object, (element.propertyName ?? element.name).getText()))
    .find((name) => name !== undefined);
}

/** A value that is read: not a type, not a name being declared, not another object's member. */
function isUse(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isTypeNode(parent) || ts.isTypeQueryNode(parent) || ts.isQualifiedName(parent))
    return false;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isImportSpecifier(parent) || ts.isTypeElement(parent)) return false;
  const isDeclared = "name" in parent && parent.name === node;
  return !isDeclared || ts.isShorthandPropertyAssignment(parent);
}

function isAllowed(name: Ambient, path: string): boolean {
  return ambient.some((allowance) => allows(allowance, path) && allowance.names.includes(name));
}
