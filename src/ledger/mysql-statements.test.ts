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

  it("inserts many rows at once, however the statement is broken into lines", () => {
    const sql = "\n  insert into t (a, b)\n  values (?, ?)";
    const batches = statements().many(sql, [
      [1, 2],
      [3, 4],
    ]);
    expect([...batches]).toEqual([
      { text: "\n  insert into t (a, b)\n  values (1, 2), (3, 4)", rows: 2 },
    ]);
  });

  it("leaves out a column that is null in every row", () => {
    const sql = "insert into t (a, b, h, c) values (?, ?, unhex(?), ?)";
    const rows = [
      [1, null, "00", null],
      [2, null, "01", 3],
    ];
    expect([...statements().many(sql, rows)]).toEqual([
      { text: "insert into t (a, h, c) values (1, x'00', null), (2, x'01', 3)", rows: 2 },
    ]);
  });

  it("updates many rows at once, however the statement is broken into lines", () => {
    const sql = "\n  update t set\n    a = ?, b = ?\n  where k = ?";
    const [batch, ...more] = statements().many(sql, [
      [1, 2, 3],
      [4, 5, 6],
    ]);
    expect(more).toEqual([]);
    expect(batch).toEqual({ text: expect.stringContaining("(4, 5, 6)"), rows: 2 });
  });

  it.each(["insert into t (a) select ?", "update t set a = a + ? where k = ?"])(
    "takes no statement that it cannot spell for many rows: %s",
    (sql) => {
      expect(() => [...statements().many(sql, [[1, 1]])]).toThrow("cannot take many rows");
    },
  );

  it.each([
    ["too few values", "select ?, ?", [1]],
    ["a fraction", "select ?", [0.5]],
    ["an empty list", "select 1 where 1 in (?)", [[]]],
  ] as const)("refuses %s", (_, sql, params) => {
    expect(() => statements().spell(sql, params)).toThrow();
  });
});
