import { Fault } from "../domain/fault.ts";
import type { MysqlConnection } from "./mysql-connection.ts";

type Waiter = {
  readonly take: (connection: MysqlConnection) => void;
  readonly fail: (error: unknown) => void;
};

export type PoolLimits = {
  readonly connections: number;
  /** Who comes when so many wait already is sent away at once. */
  readonly queueMax: number;
};

/** So many connections and no more; a queue with an end; nobody is served a broken one. */
export class MysqlPool {
  readonly #connect: () => Promise<MysqlConnection>;
  readonly #limits: PoolLimits;
  readonly #idle: MysqlConnection[] = [];
  readonly #waiting: Waiter[] = [];
  #open = 0;
  #closed: (() => void) | null = null;

  constructor(connect: () => Promise<MysqlConnection>, limits: PoolLimits) {
    this.#connect = connect;
    this.#limits = limits;
  }

  async use<T>(work: (connection: MysqlConnection) => Promise<T>): Promise<T> {
    const connection = await this.#acquire();
    try {
      return await work(connection);
    } finally {
      this.#release(connection);
    }
  }

  /** Resolves when whoever has a connection has given it back. */
  async close(): Promise<void> {
    if (this.#closed !== null) return;
    const allEnded = new Promise<void>((resolve) => {
      this.#closed = resolve;
    });
    for (const { fail } of this.#waiting.splice(0)) fail(closed());
    for (const connection of this.#idle.splice(0)) {
      await connection.end();
      this.#open -= 1;
    }
    if (this.#open > 0) await allEnded;
  }

  #acquire(): Promise<MysqlConnection> {
    if (this.#closed !== null) return Promise.reject(closed());
    for (let next = this.#idle.pop(); next !== undefined; next = this.#idle.pop()) {
      if (!next.isBroken) return Promise.resolve(next);
      this.#open -= 1;
    }
    if (this.#open < this.#limits.connections) return this.#openOne();
    if (this.#waiting.length >= this.#limits.queueMax) {
      const message = `${this.#waiting.length} wait for a connection to the ledger already`;
      return Promise.reject(new Fault("OVERLOADED", message));
    }
    return new Promise((take, fail) => this.#waiting.push({ take, fail }));
  }

  async #openOne(): Promise<MysqlConnection> {
    this.#open += 1;
    try {
      return await this.#connect();
    } catch (error) {
      this.#open -= 1;
      this.#serveNext();
      this.#endIfLast();
      throw error;
    }
  }

  #release(connection: MysqlConnection): void {
    if (this.#closed !== null) {
      void connection.end().then(() => {
        this.#open -= 1;
        this.#endIfLast();
      });
      return;
    }
    if (connection.isBroken) this.#distrustIdle();
    const waiter = connection.isBroken ? undefined : this.#waiting.shift();
    if (waiter !== undefined) waiter.take(connection);
    else if (connection.isBroken) this.#giveUpPlace();
    else this.#idle.push(connection);
  }

  /** What broke one may have broken all, and the next may lead to another server. */
  #distrustIdle(): void {
    for (const idle of this.#idle.splice(0)) {
      idle.destroy();
      this.#giveUpPlace();
    }
  }

  #giveUpPlace(): void {
    this.#open -= 1;
    this.#serveNext();
  }

  /** A place has become free: whoever waits longest opens a connection of its own. */
  #serveNext(): void {
    const waiter = this.#waiting.shift();
    if (waiter !== undefined) this.#openOne().then(waiter.take, waiter.fail);
  }

  #endIfLast(): void {
    if (this.#open === 0) this.#closed?.();
  }
}

function closed(): Fault {
  return new Fault("LEDGER_UNAVAILABLE", "the ledger is closed");
}
