import { useInfiniteQuery } from "@tanstack/react-query";
import { lazy, useState } from "react";
import { Link } from "react-router";
import type { Static } from "typebox";
import type { SaleBody, SalePage } from "../../../src/http/contract.ts";
import { call } from "../api/call.ts";
import { useMay } from "../api/session.tsx";
import { SaleState } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { CommandLine, Copyable } from "../components/copyable.tsx";
import { DemoButton } from "../components/demo-button.tsx";
import { ChoiceFilter, TextFilter } from "../components/filter-fields.tsx";
import { LevelBar } from "../components/level-bar.tsx";
import { Loaded } from "../components/loaded.tsx";
import { Empty, Page } from "../components/page.tsx";
import { Part } from "../components/part.tsx";
import { type Column, VirtualTable } from "../components/virtual-table.tsx";
import { totalsOf } from "../live/sale-frame.ts";
import { saleUrl } from "../urls.ts";
import { useFilters } from "../use-filters.ts";
import { useWords, type Words } from "../use-words.ts";

const CreateSale = lazy(async () => ({
  default: (await import("../components/create-sale.tsx")).CreateSale,
}));

type Listed = Static<typeof SalePage>;
const states = ["", "draft", "open", "paused", "closed"] as const;

/** Every sale, the newest first; what is filtered stands in the address. */
export function SalesPage() {
  const { t } = useWords();
  const mayCreate = useMay("operator");
  const [isCreating, setCreating] = useState(false);
  const filters = useFilters();
  const state = filters.of("state");
  return (
    <Page
      title={t("sales.title")}
      actions={
        <>
          <DemoButton />
          {mayCreate ? (
            <Button isPrimary onClick={() => setCreating(true)}>
              {t("sales.create")}
            </Button>
          ) : null}
        </>
      }
    >
      <div className="filters">
        <TextFilter filters={filters} name="text" label={t("sales.filterText")} />
        <ChoiceFilter
          label={t("sales.state")}
          value={state}
          choices={states.map((name) => [
            name,
            name === "" ? t("filter.all") : t(`saleState.${name}`),
          ])}
          onChange={(value) => filters.set("state", value)}
        />
      </div>
      <SaleList filter={{ state, text: filters.of("text").toLowerCase() }} />
      {isCreating ? (
        <Part>
          <CreateSale onClose={() => setCreating(false)} />
        </Part>
      ) : null}
    </Page>
  );
}

type Filter = { readonly state: string; readonly text: string };

function SaleList({ filter }: { readonly filter: Filter }) {
  const words = useWords();
  const asked = useInfiniteQuery({
    queryKey: ["sales"],
    queryFn: ({ pageParam }) => call<Listed>(pageParam),
    initialPageParam: "/v1/sales?limit=50",
    getNextPageParam: ({ next }) => next,
    refetchInterval: 5_000,
  });
  return (
    <Loaded asked={asked}>
      {({ pages }) => {
        const all = pages.flatMap(({ items }) => items);
        const rows = all.filter((sale) => fits(sale, filter));
        if (all.length === 0) return <NoSales />;
        if (rows.length === 0) return <Empty title={words.t("filter.none")} />;
        return (
          <VirtualTable
            label={words.t("sales.title")}
            rows={rows}
            columns={columnsIn(words)}
            rowKey={({ saleId }) => saleId}
            minWidth={980}
            onEnd={asked.hasNextPage ? () => void asked.fetchNextPage() : undefined}
          />
        );
      }}
    </Loaded>
  );
}

function fits(sale: SaleBody, { state, text }: Filter): boolean {
  const isInState = state === "" || sale.state === state;
  return isInState && `${sale.saleId} ${sale.title}`.toLowerCase().includes(text);
}

function NoSales() {
  const { t } = useWords();
  return (
    <Empty title={t("sales.none")}>
      <p>{t("sales.noneNext")}</p>
      <CommandLine text="npx holdfast sale create first --sku phone=100 --hold-seconds 900" />
    </Empty>
  );
}

function columnsIn({ t, number, percent, time }: Words): Column<SaleBody>[] {
  return [
    {
      key: "id",
      title: t("sales.sale"),
      width: 240,
      render: ({ saleId }) => <Copyable value={saleId} to={saleUrl(saleId)} />,
    },
    {
      key: "title",
      title: t("sales.name"),
      width: 180,
      render: ({ title, saleId }) => <Link to={saleUrl(saleId)}>{title || "–"}</Link>,
    },
    {
      key: "state",
      title: t("sales.state"),
      width: 110,
      render: ({ state }) => <SaleState state={state} />,
    },
    {
      key: "bar",
      title: t("sales.stock"),
      render: ({ items }) => <LevelBar level={totalsOf(items)} />,
    },
    {
      key: "sold",
      title: t("bucket.sold"),
      width: 150,
      numeric: true,
      render: ({ items }) => {
        const { sold, total } = totalsOf(items);
        return `${number(sold)} · ${percent(sold, total)}`;
      },
    },
    {
      key: "skus",
      title: t("sales.skus"),
      width: 80,
      numeric: true,
      render: ({ items }) => number(items.length),
    },
    {
      key: "created",
      title: t("sales.created"),
      width: 180,
      render: ({ createdAt }) => time(createdAt),
    },
  ];
}
