import { type ReactNode, useEffect, useMemo, useState } from "react";

export type Column<Row> = {
  readonly key: string;
  readonly title: ReactNode;
  /** CSS width; the column without one takes the rest. */
  readonly width?: number;
  readonly numeric?: boolean;
  readonly render: (row: Row) => ReactNode;
};

/** Rows at hand, or as many as there are of which some are on their way (`at` knows none). */
export type Rows<Row> = {
  readonly length: number;
  readonly at: (index: number) => Row | undefined;
};

type TableProps<Row> = {
  readonly label: string;
  readonly rows: Rows<Row>;
  /** The same from one drawing to the next, or every row is drawn anew. */
  readonly columns: readonly Column<Row>[];
  readonly rowKey: (row: Row) => string;
  readonly minWidth?: number;
  readonly maxHeight?: number;
  readonly isOpen?: (row: Row) => boolean;
  /** Called when the end comes near: the next page. */
  readonly onEnd?: (() => void) | undefined;
  /** Told which rows are in the document: the first, and the one after the last. */
  readonly onRange?: (first: number, last: number) => void;
};

const rowHeight = 45;
const beyond = 8;

/** A table of any length: only the rows in sight, and a few beyond, are in the document. */
export function VirtualTable<Row>(props: TableProps<Row>) {
  const { label, rows, columns, rowKey, minWidth, maxHeight = 620, isOpen } = props;
  const [top, setTop] = useState(0);
  const { first, last } = rangeAt(top, { maxHeight, length: rows.length });
  useRange(props, { first, last });
  return (
    <section
      className="table-box"
      style={{ maxHeight }}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by key
      tabIndex={0}
      onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
    >
      <table className="data" aria-rowcount={rows.length + 1} style={{ minWidth }}>
        <Head columns={columns} />
        <tbody>
          <Spacer height={first * rowHeight} columns={columns.length} />
          {Array.from({ length: last - first }, (_, at) => {
            const row = rows.at(first + at);
            return (
              <TableRow
                // A row that is still on its way has no name but its place.
                key={row === undefined ? `at ${first + at}` : rowKey(row)}
                at={first + at}
                row={row}
                columns={columns}
                isOpen={row !== undefined && isOpen?.(row) === true}
              />
            );
          })}
          <Spacer height={(rows.length - last) * rowHeight} columns={columns.length} />
        </tbody>
      </table>
    </section>
  );
}

type Range = { readonly first: number; readonly last: number };

function rangeAt(
  top: number,
  { maxHeight, length }: { readonly maxHeight: number; readonly length: number },
): Range {
  const shown = Math.ceil(maxHeight / rowHeight);
  const first = Math.max(0, Math.min(Math.floor(top / rowHeight) - beyond, length - shown));
  return { first, last: Math.min(length, first + shown + 2 * beyond) };
}

function useRange<Row>({ rows, onEnd, onRange }: TableProps<Row>, { first, last }: Range): void {
  const isNearEnd = last >= rows.length;
  useEffect(() => {
    if (isNearEnd) onEnd?.();
  }, [isNearEnd, onEnd]);
  useEffect(() => onRange?.(first, last), [onRange, first, last]);
}

function Head<Row>({ columns }: { readonly columns: readonly Column<Row>[] }) {
  return (
    <>
      <colgroup>
        {columns.map(({ key, width }) => (
          <col key={key} style={width === undefined ? {} : { width }} />
        ))}
      </colgroup>
      <thead>
        <tr>
          {columns.map(({ key, title, numeric }) => (
            <th key={key} scope="col" className={numeric ? "num" : ""}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
    </>
  );
}

type RowProps<Row> = {
  readonly at: number;
  readonly row: Row | undefined;
  readonly columns: readonly Column<Row>[];
  readonly isOpen: boolean;
};

/** Drawn again only when it is another row: of a live sale's frame, those that have changed. */
function TableRow<Row>({ at, row, columns, isOpen }: RowProps<Row>) {
  return useMemo(
    () => (
      <tr aria-rowindex={at + 2} className={isOpen ? "open" : ""} aria-busy={row === undefined}>
        {columns.map(({ key, render, numeric }) => (
          <td key={key} className={numeric ? "num" : ""}>
            {row === undefined ? <span className="coming" /> : render(row)}
          </td>
        ))}
      </tr>
    ),
    [at, row, columns, isOpen],
  );
}

function Spacer({ height, columns }: { readonly height: number; readonly columns: number }) {
  if (height <= 0) return null;
  return (
    <tr>
      <td colSpan={columns} style={{ height, padding: 0, border: 0 }} />
    </tr>
  );
}
