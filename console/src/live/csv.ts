/**
 * RFC 4180 with CRLF and a byte order mark, which makes Excel read UTF-8. A text that a
 * spreadsheet would run as a formula gets a quote in front.
 */
export function csvOf(header: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const lines = [header, ...rows].map((row) => row.map(cell).join(","));
  return `\ufeff${lines.join("\r\n")}\r\n`;
}

function cell(value: unknown): string {
  const text = textOf(value);
  const isFormula = typeof value !== "number" && /^[=+\-@\t\r]/.test(text);
  const safe = isFormula ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
