import { describe, expect, it } from "vitest";
import { MysqlStatements } from "./mysql-statements.ts";

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const statements = (): MysqlStatements => new MysqlStatements(quoted, "");

describe("a statement with its values spelled out", () => {
  it("has each value in its place, the second time like the first", () => {
    const spell = statements();
    const sql = "select ?, ? from t where a in (?) and b = ?";
    const spelled = "select 'it''s', null from t where a in (1, 2) and b = x'00ff'";
    for (const _ of [1, 2]) {
      expect(spell.spell(sql, ["it's", null, [1, 2], Buffer.from([0, 255])])).toBe(spelled);
    }
  });

  it("has hex digits as a literal, and takes nothing else for them", () => {
    const sql = "insert into t (h) values (unhex(?))";
    expect(statements().spell(sql, ["00ff"])).toBe("insert into t (h) values (x'00ff')");
    for (const other of ["0", "zz", "FF", "' or ''='", 1, null]) {
      expect(() => statements().spell(sql, [other])).toThrow("hex digits");
    }
  });

  it("inserts many rows at once", () => {
    const sql = "insert into t (a, h) values (?, unhex(?))";
    const rows = [
      ["x", "00"],
      ["y", "01"],
    ];
    expect([...statements().many(sql, rows)]).toEqual([
      { text: "insert into t (a, h) values ('x', x'00'), ('y', x'01')", rows: 2 },
    ]);
  });

  it.each([
    ["too few values", "select ?, ?", [1]],
    ["a fraction", "select ?", [0.5]],
    ["an empty list", "select 1 where 1 in (?)", [[]]],
  ] as const)("refuses %s", (_, sql, params) => {
    expect(() => statements().spell(sql, params)).toThrow();
  });
});
