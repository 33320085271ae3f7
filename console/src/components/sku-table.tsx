import { useMemo } from "react";
import type { LevelBody } from "../../../src/http/contract.ts";
import { skuUrl } from "../urls.ts";
import { useWords, type Words } from "../use-words.ts";
import { Badge } from "./badge.tsx";
import { Copyable } from "./copyable.tsx";
import { Drift, ProvedAt } from "./drift.tsx";
import { bucketsOf, LevelBar } from "./level-bar.tsx";
import { Empty } from "./page.tsx";
import { type Column, VirtualTable } from "./virtual-table.tsx";

type SkuTableProps = {
  readonly levels: readonly LevelBody[];
  readonly at: string | null;
  readonly filter: string;
  readonly onFilter: (text: string) => void;
  readonly onChange: ((sku: string) => void) | null;
};

/** Every SKU of a sale; a sale of thousands is as quick as one of three. */
export function SkuTable(props: SkuTableProps) {
  const { levels, at, filter, onFilter, onChange } = props;
  const words = useWords();
  const { t, number } = words;
  const columns = useMemo(() => skuColumns(words, onChange), [words, onChange]);
  const rows = filter === "" ? levels : levels.filter(({ sku }) => sku.includes(filter));
  return (
    <section className="stack-tight">
      <div className="row">
        <h2 style={{ flex: 1 }}>
          {t("skus.title")} <span className="muted">{number(levels.length)}</span>
        </h2>
        <input
          className="field"
          type="search"
          style={{ width: 260 }}
          aria-label={t("skus.filter")}
          placeholder={t("skus.filter")}
          value={filter}
          onChange={({ target }) => onFilter(target.value.trim())}
        />
      </div>
      {rows.length === 0 ? (
        <Empty title={t("filter.none")} />
      ) : (
        <ProvedAt value={at}>
          <VirtualTable
            label={t("skus.title")}
            rows={rows}
            columns={columns}
            rowKey={({ sku }) => sku}
            minWidth={1_180}
          />
        </ProvedAt>
      )}
    </section>
  );
}

export function skuColumns(
  words: Words,
  onChange: ((sku: string) => void) | null,
): Column<LevelBody>[] {
  const { t, number, duration } = words;
  const count = (key: "available" | "reserved" | "sold", width: number): Column<LevelBody> => ({
    key,
    title: t(`bucket.${key}`),
    width,
    numeric: true,
    render: (level) => number(level[key]),
  });
  return [
    {
      key: "sku",
      title: t("sku.sku"),
      width: 190,
      render: ({ sku }) => <Copyable value={sku} to={skuUrl(sku)} />,
    },
    { key: "bar", title: t("sku.where"), render: (level) => <LevelBar level={bucketsOf(level)} /> },
    count("available", 100),
    count("reserved", 100),
    count("sold", 100),
    {
      key: "flight",
      title: t("bucket.flight"),
      width: 90,
      numeric: true,
      render: ({ hot }) => (hot === null ? "–" : number(hot.inFlight)),
    },
    {
      key: "behind",
      title: t("figure.behind"),
      width: 90,
      numeric: true,
      render: ({ behind }) => number(behind),
    },
    {
      key: "oldest",
      title: t("figure.oldest"),
      width: 110,
      numeric: true,
      render: ({ oldestTicketSeconds }) => duration(oldestTicketSeconds * 1_000),
    },
    {
      key: "drift",
      title: t("figure.drift"),
      width: 170,
      render: (level) =>
        level.status === "stopped" ? (
          <Badge tone="bad">{t("sku.stopped")}</Badge>
        ) : (
          <Drift level={level} />
        ),
    },
    ...(onChange === null ? [] : [changeColumn(words, onChange)]),
  ];
}

function changeColumn({ t }: Words, onChange: (sku: string) => void): Column<LevelBody> {
  return {
    key: "change",
    title: <span className="hidden">{t("sku.change")}</span>,
    width: 100,
    render: ({ sku }) => (
      <button
        type="button"
        className="tool"
        aria-label={t("stock.change", { sku })}
        onClick={() => onChange(sku)}
      >
        {t("sku.change")}
      </button>
    ),
  };
}
