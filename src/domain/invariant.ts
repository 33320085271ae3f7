/** Something that cannot be is there: nobody handles this, the worker or the SKU stops. */
export class InvariantError extends Error {
  override readonly name = "InvariantError";
}

/** Stays on in production: a wrong number that is noticed late costs more than the check. */
export function invariant(condition: boolean, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}

export function unreachable(value: never): never {
  throw new InvariantError(`unexpected value ${JSON.stringify(value)}`);
}
