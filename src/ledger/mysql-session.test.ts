import { describe, expect, it } from "vitest";
import type { Written } from "./mysql-connection.ts";
import type { MysqlServer } from "./mysql-server.ts";
import { MysqlSession } from "./mysql-session.ts";
import { MysqlStatements } from "./mysql-statements.ts";

const server: MysqlServer = {
  isMariadb: true,
  version: "",
  collation: "utf8mb4_nopad_bin",
  row: "",
  keyStep: 1,
};

type Answer = {
  readonly resolve: (written: Written) => void;
  readonly reject: (error: Error) => void;
};

/** A connection whose statements are answered by hand, in the order in which they were sent. */
class ByHand {
  readonly sent: string[] = [];
  readonly #open: Answer[] = [];

  write(text: string): Promise<Written> {
    this.sent.push(text);
    return new Promise((resolve, reject) => this.#open.push({ resolve, reject }));
  }

  rows(): Promise<never> {
    throw new Error("nobody reads here");
  }

  answer(): void {
    this.#open.shift()?.resolve({ affected: 1, firstKey: 1 });
  }

  fail(error: Error): void {
    this.#open.shift()?.reject(error);
  }
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function open() {
  const connection = new ByHand();
  const statements = new MysqlStatements((text) => `'${text}'`, "");
  return { connection, session: new MysqlSession(connection, statements, server) };
}

describe("the statements of a transaction", () => {
  it("are sent one at a time, in the order of the calls", async () => {
    const { connection, session } = open();
    const both = [session.run("first", []), session.run("second", [])];
    await settle();
    expect(connection.sent).toEqual(["first"]);
    connection.answer();
    await settle();
    expect(connection.sent).toEqual(["first", "second"]);
    connection.answer();
    expect(await Promise.all(both)).toEqual([1, 1]);
  });

  it("are not sent behind one that has failed: the server would commit them at once", async () => {
    const { connection, session } = open();
    const deadlock = Object.assign(new Error("deadlock"), { errno: 1213, sqlState: "40001" });
    const both = [session.run("first", []), session.many("insert into t (a) values (?)", [[1]])];
    const settled = Promise.allSettled(both);
    await settle();
    connection.fail(deadlock);
    for (const { status } of await settled) expect(status).toBe("rejected");
    expect(connection.sent).toEqual(["first"]);
  });

  it("are not sent after its end", async () => {
    const { connection, session } = open();
    const both = Promise.allSettled([session.run("first", []), session.run("second", [])]);
    await settle();
    session.end();
    connection.answer();
    expect((await both).map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(connection.sent).toEqual(["first"]);
  });
});
