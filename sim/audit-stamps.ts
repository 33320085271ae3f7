import type { Complain } from "./audit-ledger.ts";
import { isObject, listOf } from "./audit-objects.ts";
import type { Observed } from "./faults.ts";

/**
 * Behind a barrier nothing is decided that an older epoch has stamped, and a void is decided
 * where it came out of the lane.
 */
export class StampAudit {
  /** Ids whose void the bus has stored. */
  readonly voids = new Set<string>();
  readonly #complain: Complain;
  readonly #met = new Map<number, number>();

  constructor(complain: Complain) {
    this.#complain = complain;
  }

  check({ args, result }: Observed): void {
    const results = isObject(result) ? listOf(result["results"]) : [];
    for (const [index, command] of listOf(args[0]).entries()) {
      if (!isObject(command)) continue;
      if (command["kind"] === "void" && !this.voids.has(String(command["id"]))) {
        this.#complain(
          "lane",
          `the void of ${String(command["id"])} did not come through the lane`,
        );
      }
      if (command["kind"] === "barrier") this.#meet(command);
      else this.#stamped(command, results[index]);
    }
  }

  #meet(command: Readonly<Record<string, unknown>>): void {
    const lane = Number(command["lane"]);
    this.#met.set(lane, Math.max(this.#met.get(lane) ?? 0, Number(command["epoch"])));
  }

  #stamped(command: Readonly<Record<string, unknown>>, result: unknown): void {
    const stamp = command["stamp"];
    if (!isObject(stamp)) return;
    const met = this.#met.get(Number(stamp["lane"])) ?? 0;
    const stale = isObject(result) && result["status"] === "stale";
    const old = Number(stamp["epoch"]) < met;
    if (old === stale) return;
    const found = `a ${String(command["kind"])} of epoch ${String(stamp["epoch"])}`;
    const said = stale ? "is refused as stale" : "is decided";
    this.#complain("barrier", `${found} ${said}, and barrier ${met} is met`);
  }
}
