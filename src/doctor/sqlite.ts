import { accessSync, constants, existsSync, statfsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Clock } from "../clock.ts";
import type { SqlReader } from "../ledger/sql-database.ts";
import { openSqlite } from "../ledger/sqlite.ts";
import { type Finding, judgeAll } from "./check.ts";
import { keysNotIn, ledgerFacts, uniqueKeys } from "./ledger.ts";
import { ledgerChecks } from "./ledger-checks.ts";
import { probed, reasonOf } from "./probe.ts";
import {
  damageChecks,
  type FolderFacts,
  folderChecks,
  type SqliteFacts,
  sqliteChecks,
} from "./sqlite-checks.ts";

export type SqliteLook = {
  readonly clock: Clock;
  /** Reads the whole file, and stops everything else in this process meanwhile. */
  readonly isDeep: boolean;
};

/** A ledger file, read only, over a connection that is closed again. */
export async function examineSqlite(file: string, look: SqliteLook): Promise<readonly Finding[]> {
  const path = resolve(file);
  const place = folderFindings(dirname(path));
  if (!existsSync(path)) return place;
  const ledger = await probed("sqlite.file", {
    clock: look.clock,
    look: `ls -l ${file}`,
    work: async () => {
      const database = await openSqlite(path, { readOnly: true, pause: async () => {} });
      try {
        return { said: file, findings: await fileFindings(database, { ...look, file, path }) };
      } finally {
        await database.close();
      }
    },
  });
  return [...place, ...ledger];
}

type FileLook = SqliteLook & { readonly file: string; readonly path: string };

async function fileFindings(reader: SqlReader, look: FileLook): Promise<readonly Finding[]> {
  const { file, isDeep, clock } = look;
  const damage = isDeep ? await damageOf(reader) : [];
  const whole = isDeep ? judgeAll(damageChecks, { file, damage }) : [];
  // What a damaged file says of its rows is not worth reading.
  if (damage.length > 0) return whole;
  const plain = judgeAll(sqliteChecks, await sqliteFacts(reader, look));
  return [...whole, ...plain, ...(await rowFindings(reader, file, clock))];
}

/** The file systems whose locks do not hold over a network, by the number of their kind. */
const networks: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB2"],
  [0x65735546, "FUSE"],
  [0x01021997, "9P"],
  [0x00c36400, "Ceph"],
  [0x5346414f, "AFS"],
]);

function folderFindings(folder: string): readonly Finding[] {
  try {
    const { bavail, bsize, type } = statfsSync(folder);
    return judgeAll(folderChecks, {
      folder,
      isWritable: isWritable(folder),
      freeBytes: bavail * bsize,
      network: networkOf(type),
    });
  } catch (error) {
    const said = { folder, access: reasonOf(error) };
    const look = `ls -ld ${folder}`;
    return [{ id: "sqlite.folder", state: "fail", said, look, isRefused: false }];
  }
}

export function networkOf(type: number): FolderFacts["network"] {
  return networks.get(type >>> 0) ?? null;
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

async function damageOf(reader: SqlReader): Promise<readonly string[]> {
  try {
    const found = await reader.all("pragma quick_check(20)", []);
    return found.map((row) => String(row["quick_check"])).filter((line) => line !== "ok");
  } catch (error) {
    // So damaged that it cannot even be checked.
    const reason = reasonOf(error);
    if (!reason.includes("malformed")) throw error;
    return [reason];
  }
}

async function sqliteFacts(
  reader: SqlReader,
  { file, path }: { readonly file: string; readonly path: string },
): Promise<SqliteFacts> {
  const [mode] = await reader.all("select journal_mode as value from pragma_journal_mode", []);
  const isOthersReadable = (statSync(path).mode & 0o044) !== 0;
  return { file, journal: String(mode?.["value"]), isOthersReadable };
}

async function rowFindings(
  reader: SqlReader,
  file: string,
  clock: Clock,
): Promise<readonly Finding[]> {
  const missingKeys = () => missingUniqueKeys(reader);
  const facts = await ledgerFacts({ reader, dialect: "sqlite", nowMs: clock.now(), missingKeys });
  return judgeAll(ledgerChecks, facts, `sqlite3 ${file}`);
}

const uniqueIndexes = `
  select l.name as name, group_concat(i.name) as names
  from pragma_index_list(?) l, pragma_index_info(l.name) i
  where l."unique" = 1 and l.partial = 0
  group by l.name`;

async function missingUniqueKeys(reader: SqlReader): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const table of new Set(uniqueKeys.map((key) => key.table))) {
    for (const row of await reader.all(uniqueIndexes, [table])) {
      found.add(`${table} (${String(row["names"])})`);
    }
  }
  return keysNotIn(found);
}
