import { type Checks, failWhen, some, warnWhen } from "./check.ts";

/** The place of a ledger file. */
export type FolderFacts = {
  readonly folder: string;
  readonly isWritable: boolean;
  readonly freeBytes: number;
  /** The kind of file system, where it is known to be one that forgets or forks locks. */
  readonly network: string | null;
};

export type SqliteFacts = {
  readonly file: string;
  readonly journal: string;
  readonly isOthersReadable: boolean;
};

/** What `quick_check` names, which is nothing when all is well. It reads the whole file. */
export type DamageFacts = { readonly file: string; readonly damage: readonly string[] };

const freeBytesMin = 1_000_000_000;

export const folderChecks: Checks<FolderFacts> = {
  "sqlite.folder": {
    look: "ls -ld {folder}",
    judge: ({ folder, isWritable }) =>
      failWhen(!isWritable, { folder, access: isWritable ? "rw" : "r-" }),
  },
  "sqlite.disk": {
    look: "df -h {folder}",
    judge: ({ folder, freeBytes }) =>
      warnWhen(freeBytes < freeBytesMin, { folder, free: Math.floor(freeBytes / 1_000_000) }),
  },
  "sqlite.filesystem": {
    look: "stat -f {folder}",
    isRefused: true,
    judge: ({ folder, network }) =>
      failWhen(network !== null, { folder, system: network ?? "local" }),
  },
};

export const sqliteChecks: Checks<SqliteFacts> = {
  "sqlite.journal": {
    look: 'sqlite3 {file} "pragma journal_mode"',
    judge: ({ file, journal }) => warnWhen(journal !== "wal", { file, journal }),
  },
  "sqlite.permissions": {
    look: "ls -l {file}",
    judge: ({ file, isOthersReadable }) =>
      warnWhen(isOthersReadable, { file, mode: isOthersReadable ? "0644" : "0600" }),
  },
};

export const damageChecks: Checks<DamageFacts> = {
  "sqlite.integrity": {
    look: 'sqlite3 {file} "pragma quick_check"',
    judge: ({ file, damage }) =>
      failWhen(damage.length > 0, { file, damage: some(damage, "ok"), count: damage.length }),
  },
};
