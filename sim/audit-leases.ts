import type { Complain } from "./audit-ledger.ts";
import { isObject, listOf } from "./audit-objects.ts";
import type { Observed } from "./faults.ts";

type Held = { readonly token: number; readonly holder: string; until: number };

/** One holder at a time has a lease, and under a token that is not its last nothing is written. */
export class LeaseAudit {
  readonly #complain: Complain;
  readonly #now: () => number;
  readonly #held = new Map<string, Held>();

  constructor(complain: Complain, now: () => number) {
    this.#complain = complain;
    // The ledger's clock shows whole milliseconds, and a lease ends by it.
    this.#now = () => Math.floor(now());
  }

  check(call: Observed): void {
    switch (call.method) {
      case "hold":
        this.#hold(call);
        return;
      case "release":
        for (const lease of listOf(call.args[0])) this.#release(lease);
        return;
      case "commit":
        this.#commit(call);
        return;
      case "nextEpoch": {
        const [, by] = call.args;
        if (call.result !== null && isObject(by)) this.#written(by["lease"], "an epoch");
        return;
      }
    }
  }

  #hold({ args, result }: Observed): void {
    const [by, wishes] = args;
    const holder = String(by);
    const terms = new Map(
      listOf(wishes).flatMap((wish) =>
        isObject(wish) ? [[String(wish["name"]), Number(wish["forMs"])] as const] : [],
      ),
    );
    for (const lease of listOf(result)) {
      if (!isObject(lease)) continue;
      const name = String(lease["name"]);
      const token = Number(lease["token"]);
      const known = this.#held.get(name);
      const until = this.#now() + (terms.get(name) ?? 0);
      if (known !== undefined && known.holder !== holder) {
        if (token <= known.token) this.#complain("lease", `${name}: token ${token} is not new`);
        if (this.#now() < known.until) this.#complain("lease", `${name} is taken before its end`);
      }
      this.#held.set(name, { token, holder, until });
    }
  }

  #release(lease: unknown): void {
    if (!isObject(lease)) return;
    const known = this.#held.get(String(lease["name"]));
    if (known !== undefined && known.token === lease["token"]) known.until = 0;
  }

  #commit({ args, result }: Observed): void {
    const results = isObject(result) ? listOf(result["results"]) : [];
    for (const [index, command] of listOf(args[0]).entries()) {
      const found = results[index];
      if (!isObject(command) || !isObject(found) || found["status"] === "stale") continue;
      if (isObject(command["lease"])) this.#written(command["lease"], String(command["kind"]));
    }
  }

  #written(lease: unknown, what: string): void {
    if (!isObject(lease)) return;
    const name = String(lease["name"]);
    const last = this.#held.get(name)?.token ?? 0;
    if (lease["token"] === last) return;
    this.#complain(
      "lease",
      `${what} under token ${String(lease["token"])} of ${name}, not ${last}`,
    );
  }
}
