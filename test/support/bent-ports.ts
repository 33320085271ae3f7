import type { Clock } from "../../src/clock.ts";
import type { SqlDatabase, SqlSession } from "../../src/ledger/sql-database.ts";

/** A port whose every call is preceded by an act: a pause, a look, a fault that is thrown. */
export function beforeEachCall<T extends object>(
  port: T,
  act: (method: string) => Promise<void> | void,
): T {
  return new Proxy(port, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function" || typeof name !== "string") return value;
      return async (...args: readonly unknown[]) => {
        await act(name);
        return value.apply(target, args);
      };
    },
  });
}

/** A port with some calls replaced. */
export function bent<T extends object>(port: T, instead: Partial<T>): T {
  return new Proxy(port, {
    get(target, name) {
      const own: unknown = Reflect.get(instead, name);
      if (own !== undefined) return own;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** A pause between every check of a transaction and each of its writes. */
export function slowWrites(database: SqlDatabase, clock: Clock, ms: number): SqlDatabase {
  const slow = (session: SqlSession): SqlSession =>
    beforeEachCall(session, (method) => (method === "all" ? undefined : clock.sleep(ms)));
  return bent(database, {
    transaction: (work) => database.transaction((session) => work(slow(session))),
  });
}
