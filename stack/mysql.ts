import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { listening, type SqlServer, type SqlServerOptions, startSqlServer } from "./mariadb.ts";
import { findProgram } from "./packages.ts";
import { freePort } from "./private-server.ts";

const run = promisify(execFile);
const aptPackage = "mysql-server-core";

/**
 * The real MySQL. Debian's stable suites have MariaDB only, so a small system of the unstable one
 * is unpacked, once, into a folder of the user's cache, and the server runs inside it.
 */
export async function startMysql(options: SqlServerOptions = {}): Promise<SqlServer> {
  const root = await mysqlRoot();
  const folder = options.folder ?? (await newFolder(root));
  const inside = folder.slice(root.length);
  const place = [
    ...["--no-defaults", "--user=root", `--datadir=${inside}/data`],
    ...[`--socket=${inside}/socket`, `--pid-file=${inside}/pid`, `--tmpdir=${inside}`],
  ];
  const chroot = await findProgram("chroot", "coreutils");
  const program = [root, "/usr/sbin/mysqld", ...place];
  if (options.folder === undefined) await run(chroot, [...program, "--initialize-insecure"]);
  const port = await freePort();
  const quiet = ["--secure-file-priv=NULL", "--mysqlx=0"];
  return startSqlServer(port, {
    name: "mysql",
    command: chroot,
    args: [...program, ...quiet, ...listening(port), ...(options.settings ?? [])],
    folder,
    readyWithinMs: 60_000,
  });
}

/** Made aside and moved into place whole, so two who begin at once do not meet. */
async function mysqlRoot(): Promise<string> {
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  const root = join(cache, "holdfast", "mysql-sid");
  if (existsSync(join(root, "usr", "sbin", "mysqld"))) return root;
  if (process.getuid?.() !== 0) {
    throw new Error(`real MySQL is not here: as root, debootstrap unpacks it into ${root}`);
  }
  const debootstrap = await findProgram("debootstrap", "debootstrap");
  await mkdir(dirname(root), { recursive: true });
  const aside = await mkdtemp(`${root}.`);
  try {
    const wanted = ["--variant=minbase", `--include=${aptPackage}`, "sid", aside];
    await run(debootstrap, [...wanted, ...(await mirror())], { maxBuffer: 64 * 1024 * 1024 });
    await rename(aside, root).catch((error: unknown) => {
      if (!existsSync(join(root, "usr", "sbin", "mysqld"))) throw error;
    });
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
  return root;
}

/** Where this machine has its packages from: a mirror near it, or none to say. */
async function mirror(): Promise<readonly string[]> {
  const wanted = ["Identifier: Packages", "Origin: Debian", "Label: Debian", "Component: main"];
  try {
    const { stdout } = await run("apt-get", [
      ...["indextargets", "--format", "$(REPO_URI)"],
      ...wanted,
    ]);
    return stdout.split("\n").slice(0, 1).filter(Boolean);
  } catch {
    return [];
  }
}

async function newFolder(root: string): Promise<string> {
  await mkdir(join(root, "srv"), { recursive: true });
  return mkdtemp(join(root, "srv", "holdfast-"));
}
