import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openMysql } from "../../src/ledger/mysql.ts";
import { openMysqlLedger } from "../../src/ledger/mysql-ledger.ts";
import { TcpProxy } from "../../stack/tcp-proxy.ts";
import { openSale, reserve, skuA, wordsOf } from "../support/ledger-fixtures.ts";
import { createDatabase, type Database, ledgerServers } from "../support/ledger-servers.ts";

const lines = { [skuA]: 1 };
const lockRow = "select sku_id from inventory where sku_id = ? for update";

describe.each(ledgerServers())("a connection that dies without a word on $name", (server) => {
  let database: Database;
  let line: TcpProxy;
  beforeEach(async () => {
    database = await createDatabase(server);
    line = await TcpProxy.before(Number(new URL(database.url).port));
  });
  afterEach(async () => {
    await line.close();
    await database.drop();
  });

  it("does not keep its rows locked: the server ends what it does not hear of", async () => {
    const ledger = await openMysqlLedger(database.url);
    await openSale(ledger, { items: { [skuA]: 10 } });
    const url = new URL(database.url);
    url.port = String(line.port);
    const dying = await openMysql(url.href);
    const locked = new Promise<void>((resolve) => {
      const stands = dying.transaction(async (session) => {
        await session.all(lockRow, [skuA]);
        line.freezeAll();
        resolve();
        // Its next statement is never heard.
        await session.all(lockRow, [skuA]);
      });
      stands.catch(() => undefined);
    });
    await locked;
    const commit = await ledger.commit([reserve("o1", { lines })]);
    expect(wordsOf(commit)).toEqual(["accepted"]);
    await Promise.all([ledger.close(), dying.close()]);
  }, 150_000);
});
