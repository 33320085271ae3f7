/** Columns that stand straight in any language: a Chinese character is two columns wide. */
export function table(rows: readonly (readonly string[])[], align: readonly Align[]): string[] {
  const widths = align.map((_, column) =>
    Math.max(0, ...rows.map((row) => displayWidth(row[column] ?? ""))),
  );
  return rows.map((row) => {
    const cells = align.map((side, column) => pad(row[column] ?? "", widths[column] ?? 0, side));
    return cells.join("  ").trimEnd();
  });
}

export type Align = "left" | "right";

export function pad(text: string, width: number, side: Align): string {
  const fill = " ".repeat(Math.max(0, width - displayWidth(text)));
  return side === "left" ? text + fill : fill + text;
}

/** Columns that a terminal gives to a text; colours take none. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text.replace(colour, "")) width += widthOf(character);
  return width;
}

const colour = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, "g");
const mark = /\p{M}|\p{Cf}/u;

/** East Asian Wide and Fullwidth, and pictures. */
const wide: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa000, 0xa4cf],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f300, 0x1f64f],
  [0x1f900, 0x1f9ff],
  [0x20000, 0x3fffd],
];

function widthOf(character: string): number {
  if (mark.test(character)) return 0;
  const point = character.codePointAt(0) ?? 0;
  return wide.some(([from, to]) => point >= from && point <= to) ? 2 : 1;
}

/** A bar of `width` columns at most; anything above zero shows. */
export function bar(value: number, max: number, width: number): string {
  if (value <= 0 || max <= 0) return "";
  return "█".repeat(Math.max(1, Math.round((value / max) * width)));
}
