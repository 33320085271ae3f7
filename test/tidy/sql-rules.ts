import ts from "typescript";
import { publicationColumn, sqlMarkers } from "./allowances.ts";
import {
  eachFile,
  eachNode,
  type Finding,
  isTest,
  nodes,
  type Rule,
  type SourceFile,
} from "./project.ts";

const ledgerCode = /^src\/ledger\/.*\.ts$/;
const statement =
  /^\s*(select|insert|replace|update|delete|create|alter|drop|with|begin|pragma|truncate)\b/i;
const shouted = /\b(SELECT|INSERT|UPDATE|DELETE|FROM|WHERE|VALUES|SET|INTO|ORDER BY|LIMIT)\b/;
const otherMarks = /\$\d|(?<![:\w]):[a-z]\w*|(?<!@)@[a-z]\w*/i;

const onlyMarks: Rule = {
  name: "a statement takes its values by `?` alone",
  check: eachNode(ledgerCode, (node, file) => {
    if (isTest(file.path)) return undefined;
    if (ts.isTemplateExpression(node) && statement.test(templateText(node))) {
      return valueInTemplate(node, file) ?? otherMark(templateText(node));
    }
    if (isPlainText(node) && statement.test(node.text)) return otherMark(node.text);
    return ts.isBinaryExpression(node) ? joinedValue(node) : undefined;
  }),
  planted: [
    { "src/ledger/a.ts": "const q = (id) => `select a from b where c = ${id}`;\n" },
    { "src/ledger/a.ts": "const q = `select a from b limit ${rows.length}`;\n" },
    { "src/ledger/a.ts": "const q = `select a from b where c = ${text(id)}`;\n" },
    { "src/ledger/a.ts": 'const q = "select a from b where c = " + id;\n' },
    { "src/ledger/a.ts": 'const q = "select a from b where c = :id";\n' },
    { "src/ledger/a.ts": 'const q = "select a from b where c = $1";\n' },
  ],
  clean: {
    "src/ledger/a.ts":
      'import { table } from "./b.ts";\nconst columns = "a, b";\n' +
      "const q = `select ${columns} from ${table} where a = ? and b in (${placeholders(ids)})`;\n" +
      'const r = "select a " + "from b where c = ?";\nconst s = `selected ${x}`;\n',
  },
};

const lowerCase: Rule = {
  name: "SQL keywords are lower-case",
  check: (project) => [
    ...eachNode(ledgerCode, (node) => {
      const text = ts.isTemplateExpression(node) ? templateText(node) : literal(node);
      return statement.test(text) && shouted.test(text) ? shouted.exec(text)?.[0] : undefined;
    })(project),
    ...eachFile(/migrations\/.*\.sql$/, (file) => shoutedLines(file))(project),
  ],
  planted: [
    { "src/ledger/a.ts": 'const q = "SELECT a FROM b";\n' },
    { "src/ledger/migrations/sqlite/0001_a.sql": "INSERT into a values (1);\n" },
  ],
  clean: {
    "src/ledger/a.ts": 'const q = "select a from b";\nconst m = "SELECT is a word";\n'.replace(
      "SELECT",
      "To SELECT",
    ),
    "src/ledger/migrations/sqlite/0001_a.sql": "-- LIMIT of a row\ncreate table a (b int);\n",
  },
};

const appendOnly: Rule = {
  name: "an entry of inventory_log never changes but in its publication columns",
  check: (project) => [
    ...eachNode(/^(src|sim|bench)\/.*\.ts$/, (node, file) => {
      if (isTest(file.path)) return undefined;
      return ts.isTemplateExpression(node) || isPlainText(node)
        ? changesEntry(ts.isTemplateExpression(node) ? templateText(node) : node.text)
        : undefined;
    })(project),
    ...eachFile(/\.sql$/, function* (file): Generator<Finding> {
      for (const { text, line } of statementsOf(file.text)) {
        const message = changesEntry(text);
        if (message !== undefined) yield { path: file.path, line, message };
      }
    })(project),
  ],
  planted: [
    { "src/ledger/a.ts": 'const q = "delete from inventory_log where version < ?";\n' },
    { "src/ledger/a.ts": 'const q = "update inventory_log set quantity = ? where id = ?";\n' },
    { "src/ledger/a.ts": "const q = `update inventory_log\n set status = ?, quantity = 1`;\n" },
    { "src/ledger/a.ts": 'const q = "replace into inventory_log (a) values (?)";\n' },
    {
      "src/ledger/a.ts":
        'const q = "insert into inventory_log (a) values (?) on conflict do update set a = 1";\n',
    },
    { "src/ledger/migrations/sqlite/0002_a.sql": "drop table inventory_log;\n" },
  ],
  clean: {
    "src/ledger/a.ts":
      'const q = "update inventory_log set status = ?, published_ms = ? where id = ?";\n' +
      'const r = "insert into inventory_log (a) values (?) on conflict (a) do nothing";\n',
    "src/ledger/migrations/sqlite/0001_a.sql":
      "create trigger t before delete on inventory_log begin select 1; end;\n",
  },
};

/** The statements of a script without its comments, each with the line where it begins. */
function statementsOf(script: string): { text: string; line: number }[] {
  let lines = 1;
  return script
    .replaceAll(/--.*$/gm, "")
    .split(";")
    .map((part) => {
      const line = lines + (/^\s*/.exec(part)?.[0].split("\n").length ?? 1) - 1;
      lines += part.split("\n").length - 1;
      return { text: part, line };
    });
}

/** What would change an entry, in words; undefined when nothing does. */
function changesEntry(sql: string): string | undefined {
  const text = sql.replaceAll(/["`]/g, "").replaceAll(/\s+/g, " ").toLowerCase();
  if (/\b(delete from|truncate( table)?|drop table( if exists)?) inventory_log\b/.test(text)) {
    return "removes entries";
  }
  if (/\breplace into inventory_log\b/.test(text)) return "replaces entries";
  if (/insert into inventory_log\b.*\b(do update|on duplicate key update)\b/.test(text)) {
    return "changes an entry that is already there";
  }
  const set = /\bupdate inventory_log(?: as \w+)? set (.*?)(?: where |$)/.exec(text)?.[1];
  const columns = [...(set ?? "").matchAll(/(?:^|,) ?(\w+) ?=/g)].map((match) => match[1] ?? "");
  const changed = columns.find((column) => !publicationColumn.test(column));
  return changed === undefined ? undefined : `changes the column ${changed}`;
}

/** Only constants of the module and imports may stand in a template, or `?` marks being made. */
function valueInTemplate(node: ts.TemplateExpression, file: SourceFile): string | undefined {
  const constants = moduleConstants(file);
  const bad = node.templateSpans.find(({ expression }) => {
    if (ts.isCallExpression(expression))
      return !sqlMarkers.includes(expression.expression.getText());
    const first = expression.getText().split(/[.[]/)[0] ?? "";
    const isPath = ts.isIdentifier(expression) || ts.isPropertyAccessExpression(expression);
    return !isPath || !constants.has(first);
  });
  return bad === undefined ? undefined : `\`\${${bad.expression.getText()}}\` in a statement`;
}

function joinedValue(node: ts.BinaryExpression): string | undefined {
  if (node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return undefined;
  if (!statement.test(literal(node.left)) || isPlainText(node.right)) return undefined;
  return "a statement is joined with a value";
}

function otherMark(sql: string): string | undefined {
  const found = otherMarks.exec(sql.replaceAll(/'[^']*'/g, "''"));
  return found === null ? undefined : `the mark \`${found[0]}\``;
}

function moduleConstants(file: SourceFile): Set<string> {
  const found = new Set<string>();
  for (const node of nodes(file)) {
    if (ts.isImportSpecifier(node)) found.add(node.name.text);
    const isConstant =
      ts.isVariableDeclaration(node) &&
      ts.isVariableStatement(node.parent.parent) &&
      node.parent.parent.parent === file.tree;
    if (isConstant && ts.isIdentifier(node.name)) found.add(node.name.text);
  }
  return found;
}

function* shoutedLines(file: SourceFile): Generator<Finding> {
  for (const [index, line] of file.text.split("\n").entries()) {
    const found = shouted.exec(line.replace(/--.*$/, "").replaceAll(/'[^']*'/g, "''"));
    if (found !== null) yield { path: file.path, line: index + 1, message: found[0] };
  }
}

function templateText(node: ts.TemplateExpression): string {
  return node.head.text + node.templateSpans.map((span) => ` x ${span.literal.text}`).join("");
}

function literal(node: ts.Node): string {
  return isPlainText(node) ? node.text : "";
}

function isPlainText(node: ts.Node): node is ts.StringLiteral | ts.NoSubstitutionTemplateLiteral {
  return ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node);
}

export const sqlRules: readonly Rule[] = [onlyMarks, lowerCase, appendOnly];
