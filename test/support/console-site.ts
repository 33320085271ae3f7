import { fileURLToPath } from "node:url";
import { MemoryBus } from "../../src/bus/memory.ts";
import { systemClock, systemRandom } from "../../src/clock.ts";
import type { CommandResult } from "../../src/domain/command.ts";
import { skuId } from "../../src/domain/values.ts";
import type { Stores } from "../../src/engine/assemble.ts";
import { silentEvents } from "../../src/events.ts";
import { MemoryHotStock } from "../../src/hot-stock/memory.ts";
import { hashPassword } from "../../src/http/passwords.ts";
import type { ServerDeps } from "../../src/http/server.ts";
import { SignIn } from "../../src/http/sign-in.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { openSqliteLedger } from "../../src/ledger/sqlite-ledger.ts";
import { bent } from "./bent-ports.ts";
import { realServer } from "./real-server.ts";
import { ShopProcess } from "./shop-process.ts";

const folder = fileURLToPath(new URL("../../dist/console", import.meta.url));

/** The built console over the real engine, in real time, with faults to plant beneath it. */
export class ConsoleSite {
  readonly url: string;
  readonly process: ShopProcess;
  readonly failures: unknown[];
  readonly #hot: MemoryHotStock;
  readonly #ledger: Ledger;
  readonly #poison: { isIn: boolean };
  readonly #close: () => Promise<void>;

  private constructor(made: {
    url: string;
    process: ShopProcess;
    failures: unknown[];
    hot: MemoryHotStock;
    ledger: Ledger;
    poison: { isIn: boolean };
    close: () => Promise<void>;
  }) {
    this.url = made.url;
    this.process = made.process;
    this.failures = made.failures;
    this.#hot = made.hot;
    this.#ledger = made.ledger;
    this.#poison = made.poison;
    this.#close = made.close;
  }

  /** With passwords (name → role), one signs in; without, the page is this machine's. */
  static async start(
    options: { users?: Readonly<Record<string, Role>>; basePath?: string } = {},
  ): Promise<ConsoleSite> {
    const clock = systemClock;
    const ledger = await openSqliteLedger(":memory:", { clock });
    const hot = new MemoryHotStock({ clock, random: systemRandom });
    const poison = { isIn: false };
    const messageKeys = [{ kid: "test", secret: await ledger.secret("messages") }];
    const stores: Stores = {
      ...{ hot, bus: new MemoryBus(clock), clock, random: systemRandom, messageKeys },
      ledger: poisoned(ledger, poison),
      events: silentEvents,
    };
    const process = await ShopProcess.begin(stores, { deliver: () => Promise.resolve() });
    process.start();
    const failures: unknown[] = [];
    const app = await realServer({
      engine: process.engine,
      clock,
      log: (error) => failures.push(error),
      console: { folder, basePath: options.basePath ?? "" },
      traceUrl: "https://traces.example/{traceId}",
      ...(options.users === undefined ? {} : await signInOf(ledger, options.users)),
    });
    const url = await app.listen({ port: 0, host: "127.0.0.1" });
    const close = async (): Promise<void> => {
      await app.close();
      await process.stop();
    };
    const server = new ConsoleSite({ url, process, failures, hot, ledger, poison, close });
    await server.#isReady();
    return server;
  }

  async #isReady(): Promise<void> {
    while (!(await this.process.engine.oversight.health()).ready) await systemClock.sleep(10);
  }

  close(): Promise<void> {
    return this.#close();
  }

  async call(path: string, body?: object, headers: Record<string, string> = {}): Promise<Told> {
    const response = await fetch(`${this.url}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const told: Record<string, unknown> = JSON.parse(await response.text());
    return { ...told, status: response.status };
  }

  async openSale(saleId: string, stock: Readonly<Record<string, number>>): Promise<void> {
    const items = Object.entries(stock).map(([sku, units]) => ({ sku, stock: units }));
    await this.call("/v1/sales", { saleId, title: saleId, holdSeconds: 900, items });
    const opened = await this.call(`/v1/sales/${saleId}/open`, {});
    if (opened.status !== 200)
      throw new Error(`${saleId} did not open: ${String(opened["detail"])}`);
  }

  buy(saleId: string, sku: string, buyer: string, key = `key-${buyer}`): Promise<Told> {
    const cart = { saleId, buyerId: buyer, items: [{ sku, quantity: 1 }] };
    return this.call("/v1/reservations", cart, { "idempotency-key": key });
  }

  /** Somebody edits hot stock by hand; the reconciler looks away. */
  async plantDrift(sku: string, units: number): Promise<void> {
    await this.process.stop("reconciler");
    this.#hot.tamper(0, (state) => {
      const found = state.skus.get(skuId(sku));
      if (found === undefined) throw new Error(`${sku} is not in lane 0`);
      found.available += units;
    });
  }

  /** While `work` runs, the ledger cannot make sense of any ticket; none is sent again. */
  async whilePoisoned(work: () => Promise<unknown>): Promise<void> {
    await this.process.stop("reconciler");
    this.#poison.isIn = true;
    await work();
    const all = { state: null, lane: null, reason: null, itemId: null, after: 0, limit: 1 };
    while ((await this.#ledger.deadLetters(all)).length === 0) await systemClock.sleep(10);
    this.#poison.isIn = false;
  }
}

export type Role = "viewer" | "operator" | "admin";
export type Told = { readonly status: number } & Readonly<Record<string, unknown>>;

export function passwordOf(name: string): string {
  return `${name}-keeps-a-long-secret`;
}

async function signInOf(
  ledger: Ledger,
  users: Readonly<Record<string, Role>>,
): Promise<Pick<ServerDeps, "signIn" | "audit">> {
  const known = Object.entries(users).map(async ([name, role]) => ({
    name,
    role,
    password: await hashPassword(passwordOf(name), systemRandom.bytes(16)),
  }));
  const audit: NonNullable<ServerDeps["audit"]> = (record) => ledger.audit(record);
  const { accounts } = ledger;
  const made = { accounts, audit, users: await Promise.all(known), random: systemRandom };
  return { signIn: new SignIn({ ...made, isAutomatic: false }), audit };
}

function poisoned(ledger: Ledger, poison: { readonly isIn: boolean }): Ledger {
  const commit: Ledger["commit"] = async (commands) => {
    if (!poison.isIn) return ledger.commit(commands);
    const told = await ledger.commit(commands.filter(({ kind }) => kind !== "ticket"));
    const decided = [...told.results];
    const results = commands.map((each): CommandResult => {
      if (each.kind === "ticket") return { status: "poison", reason: "a planted fault" };
      return decided.shift() ?? { status: "unknown" };
    });
    return { ...told, results };
  };
  return bent(ledger, { commit });
}
