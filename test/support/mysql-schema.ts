import type { Database } from "./ledger-servers.ts";

/**
 * A schema as both servers mean it: they print the same definition in different words. Columns,
 * keys and checks of each table, in a fixed order.
 */
export async function schemaOf({ query }: Database): Promise<string> {
  // What may be null in a view is the server's guess, and MySQL's changes when a table changes.
  const columns = await query(`
    select table_name as t, ordinal_position as n, concat(column_name, ' ', column_type,
      if(is_nullable = 'NO' and table_name not in (
        select table_name from information_schema.views where table_schema = database()
      ), ' not null', ''),
      if(column_default is null or column_default = 'NULL', '',
        concat(' default ', column_default)),
      if(extra like '%auto_increment%', ' auto_increment', ''),
      if(collation_name is null, '', concat(' collate ', collation_name))) as line
    from information_schema.columns where table_schema = database()`);
  const keys = await query(`
    select table_name as t, concat(if(max(non_unique) = 0, 'unique key ', 'key '), index_name,
      ' (', group_concat(column_name order by seq_in_index separator ', '), ')') as line
    from information_schema.statistics where table_schema = database()
    group by table_name, index_name`);
  const references = await query(`
    select table_name as t, concat('foreign key ', constraint_name, ' (', column_name,
      ') references ', referenced_table_name, ' (', referenced_column_name, ')') as line
    from information_schema.key_column_usage
    where table_schema = database() and referenced_table_name is not null`);
  const checks = await checksOf(query);
  const tables = new Map<string, string[]>();
  const add = (table: string, line: string): void => {
    tables.set(table, [...(tables.get(table) ?? []), `  ${line}`]);
  };
  for (const { t, line } of columns.toSorted((a, b) => a["n"] - b["n"])) add(t, plain(line));
  for (const line of sorted([...keys, ...references])) add(line.t, line.line);
  for (const line of sorted(checks)) {
    add(line.t, line.line);
  }
  const names = [...tables.keys()].sort();
  return names.map((name) => `${name}\n${tables.get(name)?.join("\n")}\n`).join("\n");
}

/** MariaDB's checks know their table, and may share a name; MySQL's have a name each. */
async function checksOf(query: Database["query"]): Promise<readonly Line[]> {
  const own = "constraint_schema = database()";
  const tables = await query(`select * from information_schema.table_constraints where ${own}`);
  const tableOf = new Map(
    tables.map((row): [string, string] => [row["CONSTRAINT_NAME"], row["TABLE_NAME"]]),
  );
  const checks = await query(`select * from information_schema.check_constraints where ${own}`);
  return checks.map((row) => {
    const table: string = row["TABLE_NAME"] ?? tableOf.get(row["CONSTRAINT_NAME"]);
    return { t: table, line: checkOf(row["CHECK_CLAUSE"]) };
  });
}

type Line = { readonly t: string; readonly line: string };

function sorted(lines: readonly unknown[]): Line[] {
  const all = lines as Line[];
  return [...new Map(all.map((each) => [`${each.t} ${each.line}`, each])).values()].sort((a, b) =>
    a.line < b.line ? -1 : 1,
  );
}

function plain(line: string): string {
  return line
    .replace(/(int)\(\d+\)/, "$1")
    .replace(/ default (''|)(?= |$)/, "")
    .replace(/ collate utf8mb4_(nopad|0900)_bin/, "")
    .replace(/ collate \w+/, " collate of the database");
}

/** One server puts everything into brackets and names the character set of each text. */
function checkOf(clause: string): string {
  const words = clause.replaceAll(/_utf8mb4|octet_(?=length)|[`\\()]/g, "").replaceAll(/\s+/g, " ");
  return `check ${words.replaceAll(/ ?, ?/g, ",").replaceAll("!=", "<>").trim()}`;
}
