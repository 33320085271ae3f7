import { Fault } from "../domain/fault.ts";
import { InvariantError } from "../domain/invariant.ts";

/** A transaction that must be undone and may be run again as a whole. */
export class Disturbed extends Error {
  override readonly name = "Disturbed";
  readonly trouble: "again" | "overtaken";

  constructor(trouble: "again" | "overtaken", message: string, cause?: unknown) {
    super(message, { cause });
    this.trouble = trouble;
  }

  /** What the caller is told when running it again has not helped. */
  get lasting(): Error {
    return this.trouble === "again"
      ? new Fault("LEDGER_UNAVAILABLE", this.message, this)
      : new InvariantError(this.message, { cause: this });
  }
}
