/** Something that cannot be is there: nobody handles this, the worker or the SKU stops. */
export class InvariantError extends Error {
  override readonly name = "InvariantError";
}

/** Stays on in production: a wrong number that is noticed late costs more than the check. */
export function invariant(
  condition: boolean,
  /** A function where a text would be made, for nothing, for every order. */
  message: string | (() => string),
): asserts condition {
  if (condition) return;
  throw new InvariantError(typeof message === "string" ? message : message());
}

export function unreachable(value: never): never {
  throw new InvariantError(`unexpected value ${JSON.stringify(value)}`);
}
