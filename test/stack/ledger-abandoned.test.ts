import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openMysql } from "../../src/ledger/mysql.ts";
import { MysqlConnection } from "../../src/ledger/mysql-connection.ts";
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
    const dying = await openMysql(urlBehind(line));
    let end = (): void => {};
    const locked = new Promise<void>((isLocked) => {
      const stands = dying.transaction(async (session) => {
        await session.all(lockRow, [skuA]);
        line.freezeAll();
        // Its process is gone too: nobody asks after it.
        await new Promise<void>((resolve) => {
          end = resolve;
          isLocked();
        });
      });
      stands.catch(() => undefined);
    });
    await locked;
    const commit = await ledger.commit([reserve("o1", { lines })]);
    expect(wordsOf(commit)).toEqual(["accepted"]);
    end();
    await Promise.all([ledger.close(), dying.close()]);
  }, 150_000);

  it("is noticed: the server says that it waits for us, and hangs up", async () => {
    const ledger = await openMysqlLedger(database.url);
    await openSale(ledger, { items: { [skuA]: 10 } });
    const dying = await openMysql(urlBehind(line));
    const stands = dying.transaction(async (session) => {
      await session.all(lockRow, [skuA]);
      line.freezeAll();
      await session.all(lockRow, [skuA]);
    });
    await expect(stands).rejects.toThrow(/the server waits for a statement/);
    await expect(stands).rejects.toMatchObject({ code: "LEDGER_UNAVAILABLE" });
    // Nobody waits for the server to find out by itself: the row is free.
    const freed = "select sku_id from inventory where sku_id = ? for update nowait";
    expect(await dying.transaction((session) => session.all(freed, [skuA]))).toHaveLength(1);
    await Promise.all([ledger.close(), dying.close()]);
  }, 60_000);

  it("is not the only one: those that nobody used are opened anew", async () => {
    const dying = await openMysql(urlBehind(line));
    const read = () => dying.all("select connection_id() as id, sleep(0.2) as slept", []);
    await Promise.all([read(), read(), read()]);
    line.freezeAll();
    await expect(read()).rejects.toMatchObject({ code: "LEDGER_UNAVAILABLE" });
    const asked = vi.spyOn(MysqlConnection.prototype, "rows");
    await Promise.all([read(), read(), read()]);
    expect(asked.mock.calls.filter(([text]) => text === "show processlist")).toEqual([]);
    asked.mockRestore();
    await dying.close();
  }, 60_000);

  it("leaves in doubt a commit whose answer it has lost", async () => {
    const dying = await openMysql(urlBehind(line));
    const stands = dying.transaction(async () => line.freezeAll());
    await expect(stands).rejects.toMatchObject({ code: "LEDGER_UNKNOWN" });
    await dying.close();
  }, 60_000);

  it("is not taken for a server that is slow: it is asked, and works", async () => {
    const ledger = await openMysql(database.url);
    const asked = vi.spyOn(MysqlConnection.prototype, "rows");
    const slow = await ledger.slow.all("select sleep(6) as slept", []);
    expect(slow).toEqual([{ slept: 0 }]);
    expect(asked.mock.calls.filter(([text]) => text === "show processlist")).toHaveLength(2);
    asked.mockRestore();
    await ledger.close();
  }, 60_000);

  function urlBehind({ port }: TcpProxy): string {
    const url = new URL(database.url);
    url.port = String(port);
    return url.href;
  }
});
