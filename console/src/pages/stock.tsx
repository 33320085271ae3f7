import { useInfiniteQuery } from "@tanstack/react-query";
import { lazy, useMemo, useState } from "react";
import type { Static } from "typebox";
import type { LevelPage } from "../../../src/http/contract.ts";
import { call } from "../api/call.ts";
import { useMay } from "../api/session.tsx";
import { Button } from "../components/button.tsx";
import { CommandLine } from "../components/copyable.tsx";
import { ProvedAt } from "../components/drift.tsx";
import { TextFilter } from "../components/filter-fields.tsx";
import { Loaded } from "../components/loaded.tsx";
import { Empty, Page } from "../components/page.tsx";
import { Part } from "../components/part.tsx";
import { skuColumns } from "../components/sku-table.tsx";
import { VirtualTable } from "../components/virtual-table.tsx";
import { useFilters } from "../use-filters.ts";
import { useWords } from "../use-words.ts";

const StockForm = lazy(async () => ({
  default: (await import("../components/stock-form.tsx")).StockForm,
}));

const StockImport = lazy(async () => ({
  default: (await import("../components/stock-import.tsx")).StockImport,
}));

type Listed = Static<typeof LevelPage>;

/** Every SKU in both stores, in order of its name, a page at a time as one scrolls. */
export function StockPage() {
  const words = useWords();
  const { t } = words;
  const mayOperate = useMay("operator");
  const filters = useFilters();
  const [sku, setSku] = useState<string | null>(null);
  const [isImporting, setImporting] = useState(false);
  const asked = useInfiniteQuery({
    queryKey: ["stock"],
    queryFn: async ({ pageParam }) => ({
      ...(await call<Listed>(pageParam)),
      at: new Date().toISOString(),
    }),
    initialPageParam: "/v1/stock?limit=200",
    getNextPageParam: ({ next }) => next,
    refetchInterval: 10_000,
  });
  const text = filters.of("sku");
  const at = asked.data?.pages[0]?.at ?? null;
  const columns = useMemo(() => skuColumns(words, mayOperate ? setSku : null), [words, mayOperate]);
  return (
    <Page
      title={t("stock.title")}
      actions={
        mayOperate ? <Button onClick={() => setImporting(true)}>{t("import.open")}</Button> : null
      }
    >
      <div className="filters">
        <TextFilter filters={filters} name="sku" label={t("skus.filter")} />
      </div>
      <Loaded asked={asked}>
        {({ pages }) => {
          const all = pages.flatMap(({ items }) => items);
          const rows = all.filter((level) => level.sku.includes(text));
          if (all.length === 0) {
            return <NoStock />;
          }
          return (
            <ProvedAt value={at}>
              <VirtualTable
                label={t("stock.title")}
                rows={rows}
                columns={columns}
                rowKey={(level) => level.sku}
                minWidth={1_180}
                onEnd={asked.hasNextPage ? () => void asked.fetchNextPage() : undefined}
              />
            </ProvedAt>
          );
        }}
      </Loaded>
      <Part>
        {sku === null ? null : <StockForm sku={sku} onClose={() => setSku(null)} />}
        {isImporting ? <StockImport onClose={() => setImporting(false)} /> : null}
      </Part>
    </Page>
  );
}

function NoStock() {
  const { t } = useWords();
  return (
    <Empty title={t("stock.none")}>
      <p>{t("stock.noneNext")}</p>
      <CommandLine text="npx holdfast sale create first --sku phone=100 --hold-seconds 900" />
    </Empty>
  );
}
