export type StockLine = { readonly sku: string; readonly stock: number };
export type WrongLine = { readonly line: number; readonly text: string };

const idPattern = /^[A-Za-z0-9][A-Za-z0-9._~-]{0,63}$/;
const stockMax = 1_000_000_000;
const wrongMax = 5;

/**
 * SKUs with their stock, a line each, as they are typed or copied out of a spreadsheet: parted by
 * spaces, a tab, a comma or `=`, in quotes or not. What cannot be read is told with its line.
 */
export function parseLines(pasted: string): {
  readonly lines: readonly StockLine[];
  readonly wrong: readonly WrongLine[];
} {
  const lines: StockLine[] = [];
  const wrong: WrongLine[] = [];
  const seen = new Set<string>();
  for (const [at, raw] of pasted.split(/\r?\n/).entries()) {
    const text = raw.trim();
    if (text === "") continue;
    const [sku = "", units = ""] = text.split(/[\s,;=，；]+/).map(unquoted);
    const stock = /^\d+$/.test(units) ? Number(units) : Number.NaN;
    const isRight = idPattern.test(sku) && stock <= stockMax && !seen.has(sku);
    if (isRight) lines.push({ sku, stock });
    else if (wrong.length < wrongMax) wrong.push({ line: at + 1, text });
    seen.add(sku);
  }
  return { lines, wrong };
}

function unquoted(part: string): string {
  return part.replace(/^["']|["']$/g, "");
}
