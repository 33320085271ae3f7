import { type ReactNode, useEffect, useRef, useState } from "react";

export type Column<Row> = {
  readonly key: string;
  readonly title: ReactNode;
  /** CSS width; the column without one takes the rest. */
  readonly width?: number;
  readonly numeric?: boolean;
  readonly render: (row: Row) => ReactNode;
};

type TableProps<Row> = {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly rowKey: (row: Row) => string;
  readonly minWidth?: number;
  readonly maxHeight?: number;
  readonly isOpen?: (row: Row) => boolean;
  /** Called when the end comes near: the next page. */
  readonly onEnd?: (() => void) | undefined;
};

const rowHeight = 45;
const beyond = 8;

/** A table of any length: only the rows in sight, and a few beyond, are in the document. */
export function VirtualTable<Row>(props: TableProps<Row>) {
  const { label, rows, columns, rowKey, minWidth, maxHeight = 620, isOpen, onEnd } = props;
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const shown = Math.ceil(maxHeight / rowHeight);
  const first = Math.max(0, Math.min(Math.floor(top / rowHeight) - beyond, rows.length - shown));
  const last = Math.min(rows.length, first + shown + 2 * beyond);
  const isNearEnd = last >= rows.length;
  useEffect(() => {
    if (isNearEnd) onEnd?.();
  }, [isNearEnd, onEnd]);
  return (
    <section
      className="table-box"
      ref={box}
      style={{ maxHeight }}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by key
      tabIndex={0}
      onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
    >
      <table className="data" aria-rowcount={rows.length + 1} style={{ minWidth }}>
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
        <tbody>
          <Spacer height={first * rowHeight} columns={columns.length} />
          {rows.slice(first, last).map((row, at) => (
            <tr
              key={rowKey(row)}
              aria-rowindex={first + at + 2}
              className={isOpen?.(row) ? "open" : ""}
            >
              {columns.map(({ key, render, numeric }) => (
                <td key={key} className={numeric ? "num" : ""}>
                  {render(row)}
                </td>
              ))}
            </tr>
          ))}
          <Spacer height={(rows.length - last) * rowHeight} columns={columns.length} />
        </tbody>
      </table>
    </section>
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
