export type Difference = {
  readonly field: string;
  readonly before: string;
  readonly after: string;
};

/** Two values side by side, field by field; what is missing on a side is a dash. */
export function differences(before: unknown, after: unknown): readonly Difference[] {
  const left = fieldsOf(before);
  const right = fieldsOf(after);
  const names = [...new Set([...Object.keys(left), ...Object.keys(right)])];
  return names.map((field) => ({
    field: field === "" ? "·" : field,
    before: shown(left[field]),
    after: shown(right[field]),
  }));
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  if (value === null || value === undefined) return {};
  if (typeof value === "object" && !Array.isArray(value)) return { ...value };
  return { "": value };
}

function shown(value: unknown): string {
  if (value === undefined) return "–";
  return typeof value === "string" ? value : JSON.stringify(value);
}
