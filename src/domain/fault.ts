/**
 * What broke between us and a store. `unknown` means that the call may have taken effect:
 * the caller asks again with the same id and never assumes a failure.
 */
export type FaultCode =
  | "HOT_UNAVAILABLE"
  | "HOT_UNKNOWN"
  | "LEDGER_UNAVAILABLE"
  | "LEDGER_UNKNOWN"
  | "BUS_UNAVAILABLE"
  | "BUS_UNKNOWN"
  | "OVERLOADED"
  | "STOPPING";

export class Fault extends Error {
  override readonly name = "Fault";
  readonly code: FaultCode;

  constructor(code: FaultCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }

  /** Every fault may be tried again: with the same id, nothing is done twice. */
  get retryable(): boolean {
    return this.code !== "STOPPING";
  }
}
