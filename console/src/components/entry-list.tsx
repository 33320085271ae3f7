import { useInfiniteQuery, useQueries } from "@tanstack/react-query";
import { memo, useCallback, useMemo, useState } from "react";
import type { EntryBody } from "../../../src/http/contract.ts";
import { call, query } from "../api/call.ts";
import { askEntries, type Entries } from "../live/entries.ts";
import {
  entriesPerPage,
  firstSight,
  pageOfVersion,
  pagesInSight,
  versionOfRow,
} from "../live/entry-pages.ts";
import { useSettled } from "../live/use-settled.ts";
import { instantOf, useFilters } from "../use-filters.ts";
import { useWords } from "../use-words.ts";
import { Button } from "./button.tsx";
import { entryColumns } from "./entry-columns.tsx";
import { Failure } from "./failure.tsx";
import { PeriodFilter } from "./filter-fields.tsx";
import { Loaded } from "./loaded.tsx";
import { Empty } from "./page.tsx";
import { VirtualTable } from "./virtual-table.tsx";

type Sight = { readonly first: number; readonly last: number };
type ListProps = { readonly path: string; readonly newest: number };

const minWidth = 1_600;
/** Longer than it takes to roll past: only where one stops is asked for. */
const quietMs = 120;

/** Every entry of a SKU: the newest first, or those of a period in their order. */
export function EntryList({ path, newest }: ListProps) {
  const { t, number } = useWords();
  const filters = useFilters();
  const [top, setTop] = useState(newest);
  const from = instantOf(filters.of("from"));
  const to = instantOf(filters.of("to"));
  const isWhole = from === "" && to === "";
  const isNewer = isWhole && newest > top;
  return (
    <section className="stack-tight">
      <div className="filters">
        <h2 style={{ flex: 1 }}>
          {t("ledger.entries")} <span className="muted">{number(newest)}</span>
        </h2>
        {isNewer ? (
          <Button onClick={() => setTop(newest)}>
            {t("ledger.newer", { entries: number(newest - top) })}
          </Button>
        ) : null}
        <PeriodFilter filters={filters} />
      </div>
      {isWhole ? (
        <WholeList path={path} newest={top} />
      ) : (
        <PeriodList path={path} from={from} to={to} />
      )}
    </section>
  );
}

const WholeList = memo(({ path, newest }: ListProps) => {
  const words = useWords();
  const columns = useMemo(() => entryColumns(words), [words]);
  const [range, setRange] = useState<Sight>(firstSight);
  const onRange = useCallback((first: number, last: number) => setRange({ first, last }), []);
  const pages = pagesInSight(useSettled(range, quietMs), newest);
  const asked = useQueries({
    queries: pages.map((page) => askEntries(path, page, newest)),
  });
  const known = new Map(pages.map((page, at) => [page, asked[at]?.data?.items]));
  const failed = asked.find(({ error }) => error !== null);
  const entryAt = (row: number): EntryBody | undefined => {
    const version = versionOfRow(row, newest);
    const page = pageOfVersion(version);
    return known.get(page)?.[version - 1 - page * entriesPerPage];
  };
  if (newest === 0) return <Empty title={words.t("ledger.none")} />;
  return (
    <>
      {failed === undefined ? null : (
        <Failure error={failed.error} retry={() => void failed.refetch()} />
      )}
      <VirtualTable
        label={words.t("ledger.entries")}
        rows={{ length: newest, at: entryAt }}
        columns={columns}
        rowKey={versionKey}
        minWidth={minWidth}
        onRange={onRange}
      />
    </>
  );
});

function versionKey({ version }: EntryBody): string {
  return String(version);
}

type PeriodProps = { readonly path: string; readonly from: string; readonly to: string };

/** Where they stand among the versions is not known: page after page, in their order. */
function PeriodList({ path, from, to }: PeriodProps) {
  const words = useWords();
  const columns = useMemo(() => entryColumns(words), [words]);
  const asked = useInfiniteQuery({
    queryKey: ["entries", path, { from, to }],
    queryFn: ({ pageParam }) => call<Entries>(pageParam),
    initialPageParam: `${path}/entries${query({ from, to, limit: `${entriesPerPage}` })}`,
    getNextPageParam: ({ next }) => next,
  });
  return (
    <Loaded asked={asked}>
      {({ pages }) => {
        const rows: EntryBody[] = pages.flatMap(({ items }) => items);
        if (rows.length === 0) return <Empty title={words.t("ledger.none")} />;
        return (
          <VirtualTable
            label={words.t("ledger.entries")}
            rows={rows}
            columns={columns}
            rowKey={versionKey}
            minWidth={minWidth}
            onEnd={asked.hasNextPage ? () => void asked.fetchNextPage() : undefined}
          />
        );
      }}
    </Loaded>
  );
}
