import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { type Connection, createConnection } from "mysql2/promise";
import { systemClock } from "../src/clock.ts";
import { openMysql } from "../src/ledger/mysql.ts";
import { findProgram } from "../stack/packages.ts";
import { freePort } from "../stack/private-server.ts";
import { lasting } from "./injections.ts";
import { numbersOf, type Query, statusOf } from "./query.ts";
import type { Scene } from "./scene.ts";

const run = promisify(execFile);
const dumpBytesMax = 256 * 1024 * 1024;
/** Less than this the server does not take. */
const connectionsMin = 10;
const connectionsUsual = 150;
const withinMs = 60_000;

/** Against the order in which everybody should: how many deadlocks came of it. */
export function lockBackwards(scene: Scene): Promise<number> {
  return scene.sql(async (query) => {
    const skus = await numbersOf(query, "select sku from inventory order by sku desc");
    const before = await statusOf(query, "Innodb_deadlocks");
    const startedAt = systemClock.mono();
    const goesOn = (deadlocks: number): boolean => {
      const ms = systemClock.mono() - startedAt;
      return ms < scene.faultMs || (deadlocks === 0 && ms < withinMs);
    };
    let deadlocks = 0;
    while (goesOn(deadlocks)) {
      await lockEach(query, skus);
      deadlocks = (await statusOf(query, "Innodb_deadlocks")) - before;
    }
    return deadlocks;
  });
}

/** One after the other; the server may choose us as the victim. */
async function lockEach(query: Query, skus: readonly number[]): Promise<void> {
  try {
    await query("begin");
    for (const sku of skus) await query(`select sku from inventory where sku = ${sku} for update`);
  } catch (error) {
    if (!isAnswer(error, 1213) && !isAnswer(error, 1205)) throw error;
  }
  await query("rollback");
}

/** Somebody else has all of them for a while, and gives them back. */
export async function takeAllConnections(scene: Scene): Promise<void> {
  const { server, user } = scene.ledger;
  const holders: Connection[] = [];
  await scene.sql(async (query) => {
    const refused = (): Promise<number> => statusOf(query, "Connection_errors_max_connections");
    await query(`set global max_connections = ${connectionsMin}`);
    const before = await refused();
    // Who of Holdfast's comes back meanwhile is ended again, until no place is left.
    for (let rounds = 0; rounds < 3; rounds += 1) {
      const theirs = `select id from information_schema.processlist where user = '${user}'`;
      for (const id of await numbersOf(query, theirs)) await query(`kill ${id}`).catch(() => null);
      holders.push(...(await takeWhatIsFree(server.url)));
    }
    await lasting(scene.faultMs, async () => (await refused()) > before);
    for (const holder of holders) holder.destroy();
    await query(`set global max_connections = ${connectionsUsual}`);
  });
}

async function takeWhatIsFree(uri: string): Promise<readonly Connection[]> {
  const taken: Connection[] = [];
  for (let n = 0; n <= connectionsMin; n += 1) {
    try {
      taken.push(await createConnection({ uri }));
    } catch (error) {
      if (isAnswer(error, 1040)) break;
      throw error;
    }
  }
  return taken;
}

/** The database comes back as it was some seconds ago: what was told since is not in it. */
export async function goBack(scene: Scene, afterMs: number): Promise<void> {
  const { server, database } = scene.ledger;
  const versions = (): Promise<number> =>
    scene.sql(
      async (query) => (await numbersOf(query, "select sum(version) from inventory"))[0] ?? 0,
    );
  const kept = await dumpOf(server.port, database);
  const before = await versions();
  await lasting(afterMs, async () => (await versions()) > before);
  const proxy = scene.network.ledger;
  const { target } = proxy;
  proxy.target = await freePort();
  proxy.cutAll();
  await scene.sql((query) => query(kept));
  proxy.target = target;
}

async function dumpOf(port: number, database: string): Promise<string> {
  const program = await findProgram("mariadb-dump", "mariadb-client");
  const where = ["--no-defaults", "--host=127.0.0.1", `--port=${port}`, "--user=root"];
  const { stdout } = await run(
    program,
    [...where, "--single-transaction", "--hex-blob", database],
    {
      maxBuffer: dumpBytesMax,
    },
  );
  return stdout;
}

/** As a migration would: 1 when it has given up, so that the others could go on. */
export async function alterBehindIdle(scene: Scene): Promise<number> {
  const database = await openMysql(scene.ledgerUrl);
  try {
    return await scene.sql(async (query) => {
      await query("begin; select * from orders limit 1");
      const waits = database
        .exclusively((session) => session.script("alter table orders add column idle_note text"))
        .then(
          () => 0,
          () => 1,
        );
      const gaveUp = await waits;
      await query("rollback");
      return gaveUp;
    });
  } finally {
    await database.close();
  }
}

function isAnswer(error: unknown, errno: number): boolean {
  return error instanceof Error && "errno" in error && error.errno === errno;
}
