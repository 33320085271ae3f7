import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Button } from "antd";
import { lazy, Suspense, useState } from "react";
import { useParams } from "react-router";
import type { Static } from "typebox";
import type { EntryBody, EntryPage, LevelBody } from "../../../src/http/contract.ts";
import { call, query, segment } from "../api/call.ts";
import { useMay } from "../api/session.tsx";
import { AsOf } from "../components/as-of.tsx";
import { Badge } from "../components/badge.tsx";
import { ChainState } from "../components/chain-state.tsx";
import { CommandLine, Copyable } from "../components/copyable.tsx";
import { Drift } from "../components/drift.tsx";
import { entryColumns } from "../components/entry-columns.tsx";
import { PeriodFilter } from "../components/filter-fields.tsx";
import { bucketsOf, LevelBar, LevelLegend } from "../components/level-bar.tsx";
import { Loaded } from "../components/loaded.tsx";
import { Empty, Page } from "../components/page.tsx";
import { VirtualTable } from "../components/virtual-table.tsx";
import { saleUrl } from "../urls.ts";
import { instantOf, useFilters } from "../use-filters.ts";
import { useWords } from "../use-words.ts";

const StockForm = lazy(async () => ({
  default: (await import("../components/stock-form.tsx")).StockForm,
}));
const ExportDialog = lazy(async () => ({
  default: (await import("../components/export-dialog.tsx")).ExportDialog,
}));

type Entries = Static<typeof EntryPage>;

/** The ledger of a SKU: its level now or as of any moment, and every entry that led there. */
export function LedgerPage() {
  const { sku = "" } = useParams();
  const path = `/v1/stock/${segment(sku)}`;
  const asked = useQuery({
    queryKey: ["level", sku],
    queryFn: () => call<LevelBody>(path),
    refetchInterval: 2_000,
  });
  if (asked.data === undefined) {
    return (
      <Page title={sku}>
        <Loaded asked={asked}>{() => null}</Loaded>
      </Page>
    );
  }
  return <Known level={asked.data} path={path} at={asked.dataUpdatedAt} />;
}

type KnownProps = { readonly level: LevelBody; readonly path: string; readonly at: number };

function Known({ level, path, at }: KnownProps) {
  const { t } = useWords();
  const mayOperate = useMay("operator");
  const [opened, setOpened] = useState<"change" | "export" | null>(null);
  const close = (): void => setOpened(null);
  const { sku, saleId, status, statusReason } = level;
  return (
    <Page
      title={t("ledger.title", { sku })}
      beside={
        <>
          {status === "stopped" ? (
            <Badge tone="bad">{t("sku.stopped")}</Badge>
          ) : (
            <Drift level={level} at={new Date(at).toISOString()} />
          )}
          <Copyable value={sku} />
          {saleId === null ? null : <Copyable value={saleId} to={saleUrl(saleId)} />}
        </>
      }
      actions={
        <>
          <Button onClick={() => setOpened("export")}>{t("export.open")}</Button>
          {mayOperate ? (
            <Button type="primary" onClick={() => setOpened("change")}>
              {t("sku.change")}
            </Button>
          ) : null}
        </>
      }
    >
      {status === "stopped" ? (
        <div className="notice bad">
          <span>{t("ledger.stopped", { reason: statusReason ?? "–" })}</span>
        </div>
      ) : null}
      <div className="card stack-tight">
        <LevelBar level={bucketsOf(level)} tall />
        <LevelLegend level={bucketsOf(level)} />
      </div>
      <div className="grid">
        <AsOf level={level} path={path} />
        <ChainState sku={sku} />
      </div>
      <EntryList sku={sku} path={path} />
      <CommandLine text={`npx holdfast stock entries ${sku}`} />
      <Suspense>
        {opened === "change" ? <StockForm sku={sku} onClose={close} /> : null}
        {opened === "export" ? <ExportDialog sku={sku} path={path} onClose={close} /> : null}
      </Suspense>
    </Page>
  );
}

function EntryList({ sku, path }: { readonly sku: string; readonly path: string }) {
  const words = useWords();
  const { t } = words;
  const filters = useFilters();
  const period = { from: instantOf(filters.of("from")), to: instantOf(filters.of("to")) };
  const asked = useInfiniteQuery({
    queryKey: ["entries", sku, period],
    queryFn: ({ pageParam }) => call<Entries>(pageParam),
    initialPageParam: `${path}/entries${query({ ...period, limit: "200" })}`,
    getNextPageParam: ({ next }) => next,
  });
  return (
    <section className="stack-tight">
      <div className="filters">
        <h2 style={{ flex: 1 }}>{t("ledger.entries")}</h2>
        <PeriodFilter filters={filters} />
        <Button onClick={() => void asked.refetch()}>{t("refresh")}</Button>
      </div>
      <Loaded asked={asked}>
        {({ pages }) => {
          const rows: EntryBody[] = pages.flatMap(({ items }) => items);
          if (rows.length === 0) return <Empty title={t("ledger.none")} />;
          return (
            <VirtualTable
              label={t("ledger.entries")}
              rows={rows}
              columns={entryColumns(words)}
              rowKey={({ version }) => String(version)}
              minWidth={1_560}
              onEnd={asked.hasNextPage ? () => void asked.fetchNextPage() : undefined}
            />
          );
        }}
      </Loaded>
    </section>
  );
}
