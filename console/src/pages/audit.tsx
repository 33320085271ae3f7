import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { Static } from "typebox";
import type { AuditPage as AuditPageBody, AuditRecordBody } from "../../../src/http/contract.ts";
import { call, query } from "../api/call.ts";
import { AuditRecord } from "../components/audit-record.tsx";
import { Commands } from "../components/commands.tsx";
import { Copyable } from "../components/copyable.tsx";
import { ExportButton } from "../components/export-button.tsx";
import { PeriodFilter, TextFilter } from "../components/filter-fields.tsx";
import { type Asked, Loaded } from "../components/loaded.tsx";
import { Empty, Page } from "../components/page.tsx";
import { type Column, VirtualTable } from "../components/virtual-table.tsx";
import { instantOf, useFilters } from "../use-filters.ts";
import { useWords, type Words } from "../use-words.ts";

export type Audited = Static<typeof AuditRecordBody>;
type Listed = Static<typeof AuditPageBody>;

const texts = ["actor", "action", "subject"] as const;

/** Who did what and why, with what it was before and after; the newest first. */
export function AuditPage() {
  const { t } = useWords();
  const filters = useFilters();
  const filter = {
    actor: filters.of("actor"),
    action: filters.of("action"),
    subject: filters.of("subject"),
    from: instantOf(filters.of("from")),
    to: instantOf(filters.of("to")),
  };
  const wanted = query({ ...filter, limit: "200" });
  const asked = useInfiniteQuery({
    queryKey: ["audit", wanted],
    queryFn: ({ pageParam }) => call<Listed>(pageParam),
    initialPageParam: `/v1/audit-log${wanted}`,
    getNextPageParam: ({ next }) => next,
    refetchInterval: 10_000,
  });
  return (
    <Page
      title={t("audit.title")}
      actions={
        <ExportButton
          title={t("audit.export")}
          path="/v1/audit-log"
          name="audit-log"
          filter={filter}
          words={{ all: t("audit.exportAll"), filtered: t("export.filtered") }}
        />
      }
    >
      <div className="filters">
        {texts.map((name) => (
          <TextFilter key={name} filters={filters} name={name} label={t(`audit.${name}`)} />
        ))}
        <PeriodFilter filters={filters} />
      </div>
      <AuditList asked={asked} />
      <Commands path={`/v1/audit-log${query(filter)}`} />
    </Page>
  );
}

type Pages = { readonly pages: readonly Listed[] };
type ListProps = {
  readonly asked: Asked<Pages> & {
    readonly hasNextPage: boolean;
    readonly fetchNextPage: () => unknown;
  };
};

function AuditList({ asked }: ListProps) {
  const words = useWords();
  const { t } = words;
  const [opened, setOpened] = useState<number | null>(null);
  const columns = useMemo(() => columnsIn(words, setOpened), [words]);
  return (
    <Loaded asked={asked}>
      {({ pages }) => {
        const rows: Audited[] = pages.flatMap(({ items }) => items);
        const record = rows.find(({ id }) => id === opened);
        if (rows.length === 0) return <Empty title={t("audit.none")} />;
        return (
          <>
            {record === undefined ? null : (
              <AuditRecord record={record} onClose={() => setOpened(null)} />
            )}
            <VirtualTable
              label={t("audit.title")}
              rows={rows}
              columns={columns}
              rowKey={({ id }) => String(id)}
              minWidth={1_000}
              isOpen={({ id }) => id === opened}
              onEnd={asked.hasNextPage ? () => void asked.fetchNextPage() : undefined}
            />
          </>
        );
      }}
    </Loaded>
  );
}

function columnsIn(words: Words, open: (id: number) => void): Column<Audited>[] {
  const { t, time } = words;
  return [
    { key: "at", title: t("audit.at"), width: 190, render: ({ at }) => time(at) },
    { key: "actor", title: t("audit.actor"), width: 150, render: ({ actor }) => actor },
    {
      key: "action",
      title: t("audit.action"),
      width: 190,
      render: ({ action }) => <span className="mono">{action}</span>,
    },
    {
      key: "subject",
      title: t("audit.subject"),
      width: 260,
      render: ({ subject }) => <Copyable value={subject} />,
    },
    { key: "reason", title: t("act.reason"), render: ({ reason }) => reason },
    {
      key: "open",
      title: <span className="hidden">{t("audit.open")}</span>,
      width: 120,
      render: ({ id }) => (
        <button
          type="button"
          className="tool"
          aria-label={t("audit.openOne", { id })}
          onClick={() => open(id)}
        >
          {t("audit.open")}
        </button>
      ),
    },
  ];
}
