/** A ledger of any length, the newest first, of which only the pages in sight are asked for. */
export const entriesPerPage = 100;
/** Before the table has said what it shows. */
export const firstSight = { first: 0, last: 30 } as const;

/** Version 1 is the last row of `newest` rows. */
export function versionOfRow(row: number, newest: number): number {
  return newest - row;
}

/** The page on which a version stands; the first one holds versions 1 to `entriesPerPage`. */
export function pageOfVersion(version: number): number {
  return Math.floor((version - 1) / entriesPerPage);
}

/** The pages for the rows from `first` to before `last`, the newest first; none twice. */
export function pagesInSight(
  { first, last }: { readonly first: number; readonly last: number },
  newest: number,
): number[] {
  if (last <= first) return [];
  const from = pageOfVersion(versionOfRow(first, newest));
  const to = pageOfVersion(Math.max(1, versionOfRow(last - 1, newest)));
  return Array.from({ length: from - to + 1 }, (_, at) => from - at);
}
