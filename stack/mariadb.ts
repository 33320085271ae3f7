import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { createConnection } from "mysql2/promise";
import { findProgram } from "./packages.ts";
import {
  freePort,
  type PrivateServer,
  type ServerPlan,
  startServer,
  temporaryFolder,
} from "./private-server.ts";

const run = promisify(execFile);
const aptPackage = "mariadb-server";

export type SqlServer = PrivateServer & {
  /** Of its root, without a database. */
  readonly url: string;
  readonly port: number;
};

export type SqlServerOptions = {
  /** Settings of the server besides ours, as on its command line. */
  readonly settings?: readonly string[];
  /** A folder that an earlier one has left, with its data. */
  readonly folder?: string;
  /** The port that clients already know; a free one by default. */
  readonly port?: number;
  /** An empty folder for the tables alone; the log of commits stays elsewhere. */
  readonly tables?: string;
  readonly env?: Readonly<Record<string, string>>;
};

/** Durable as in production: each commit is on the disk before it is answered. */
export const durable = [
  "--innodb-flush-log-at-trx-commit=1",
  "--log-bin=binlog",
  "--sync-binlog=1",
];

export async function startMariadb(options: SqlServerOptions = {}): Promise<SqlServer> {
  const program = await findProgram("mariadbd", aptPackage);
  const folder = options.folder ?? (await temporaryFolder("mariadb"));
  const data = options.tables ?? join(folder, "data");
  if (options.folder === undefined) {
    const install = await findProgram("mariadb-install-db", aptPackage);
    const args = [
      ...["--no-defaults", `--datadir=${data}`, "--skip-test-db", ...asRoot()],
      "--auth-root-authentication-method=normal",
    ];
    // A server that starts deletes the temporary tables that it finds where others keep theirs.
    await run(install, args, { env: { ...process.env, TMPDIR: folder } });
  }
  const port = options.port ?? (await freePort());
  const place = [`--datadir=${data}`, `--socket=${join(folder, "socket")}`, `--tmpdir=${folder}`];
  const log = options.tables === undefined ? [] : [`--log-bin=${join(folder, "binlog")}`];
  return startSqlServer(port, {
    name: "mariadb",
    command: program,
    args: [
      ...["--no-defaults", ...asRoot(), ...place, ...listening(port), ...log],
      ...(options.settings ?? []),
    ],
    folder,
    readyWithinMs: 60_000,
    ...(options.env === undefined ? {} : { env: options.env }),
  });
}

export async function startSqlServer(
  port: number,
  plan: Omit<ServerPlan, "ready">,
): Promise<SqlServer> {
  const url = `mysql://root@127.0.0.1:${port}`;
  const server = await startServer({ ...plan, ready: () => answers(url) });
  return { ...server, url, port };
}

export function listening(port: number): readonly string[] {
  return ["--bind-address=127.0.0.1", `--port=${port}`, ...durable, "--max-connections=300"];
}

/** Neither server starts as root without being told to. */
export function asRoot(): readonly string[] {
  return process.getuid?.() === 0 ? ["--user=root"] : [];
}

async function answers(url: string): Promise<boolean> {
  const connection = await createConnection({ uri: url, connectTimeout: 1_000 });
  await connection.query("select 1");
  await connection.end();
  return true;
}
