import { lazy, useState } from "react";
import { useMay } from "../api/session.tsx";
import { Badge, type Tone } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { ChainState } from "../components/chain-state.tsx";
import { Commands } from "../components/commands.tsx";
import { Copyable } from "../components/copyable.tsx";
import { Equation } from "../components/equation.tsx";
import { Loaded } from "../components/loaded.tsx";
import { Empty, Figure, Page } from "../components/page.tsx";
import { Part } from "../components/part.tsx";
import { type Column, VirtualTable } from "../components/virtual-table.tsx";
import { type Reconciliation, useReconciliation } from "../live/use-sale.ts";
import { skuUrl } from "../urls.ts";
import { useFilters } from "../use-filters.ts";
import { useWords, type Words } from "../use-words.ts";

const Repair = lazy(async () => ({ default: (await import("../components/repair.tsx")).Repair }));

type Item = Reconciliation["items"][number];

/** Hot stock against the ledger, with the numbers of the equation; what differs; its repair. */
export function ReconciliationPage() {
  const { t } = useWords();
  const asked = useReconciliation(2_000);
  const [isRepairing, setRepairing] = useState(false);
  const mayRepair = useMay("operator");
  return (
    <Page
      title={t("reconciliation.title")}
      actions={
        mayRepair ? (
          <Button isPrimary onClick={() => setRepairing(true)}>
            {t("repair.open")}
          </Button>
        ) : null
      }
    >
      <Loaded asked={asked}>{(report) => <Report report={report} />}</Loaded>
      <ChainState sku={null} />
      <Commands shell="reconcile --repair --dry-run" path="/v1/reconciliation" />
      <Part>{isRepairing ? <Repair onClose={() => setRepairing(false)} /> : null}</Part>
    </Page>
  );
}

function Report({ report }: { readonly report: Reconciliation }) {
  const words = useWords();
  const { t, number, clock } = words;
  const filters = useFilters();
  const isAll = filters.of("show") === "all";
  const { items, drift } = report;
  const rows = isAll ? items : items.filter(({ status }) => status !== "ok");
  const isFine = drift === 0;
  return (
    <>
      <div className={`notice ${isFine ? "ok" : "bad"}`} role="status" data-testid="verdict">
        <span className="mark">{isFine ? "✓" : "✖"}</span>
        <span>
          {t(isFine ? "reconciliation.fine" : "reconciliation.off", {
            units: number(drift),
            time: clock(report.at),
          })}
        </span>
      </div>
      <Figures report={report} />
      <Equation items={items} />
      <div className="row">
        <h2 style={{ flex: 1 }}>{t("reconciliation.skus")}</h2>
        <button
          type="button"
          className="tool"
          aria-pressed={isAll}
          onClick={() => filters.set("show", isAll ? "" : "all")}
        >
          {t(isAll ? "reconciliation.showOdd" : "reconciliation.showAll")}
        </button>
      </div>
      {rows.length === 0 ? (
        <Empty title={t("reconciliation.none")} />
      ) : (
        <VirtualTable
          label={t("reconciliation.skus")}
          rows={rows}
          columns={columnsIn(words)}
          rowKey={({ sku }) => sku}
          minWidth={1_000}
        />
      )}
    </>
  );
}

function Figures({ report }: { readonly report: Reconciliation }) {
  const { t, number } = useWords();
  const { drift } = report;
  return (
    <dl className="figures">
      <Figure name={t("sales.skus")} value={number(report.skus)} />
      <Figure name={t("figure.drift")} value={number(drift)} tone={drift === 0 ? "ok" : "bad"} />
      <Figure name={t("figure.behind")} value={number(report.behind)} />
      <Figure name={t("bucket.flight")} value={number(report.inFlight)} />
      <Figure name={t("reconciliation.repairs")} value={number(report.repairs)} />
      <Figure
        name={t("reconciliation.closed")}
        value={number(report.closed)}
        tone={report.closed > 0 ? "warn" : undefined}
      />
      <Figure
        name={t("reconciliation.stopped")}
        value={number(report.stopped)}
        tone={report.stopped > 0 ? "bad" : undefined}
      />
    </dl>
  );
}

function toneOf(status: string): Tone {
  if (status === "ok") return "ok";
  return status === "behind" || status === "closed" ? "warn" : "bad";
}

function columnsIn({ t, number, change, duration }: Words): Column<Item>[] {
  const count = (key: "ledgerAvailable" | "inFlight" | "hotAvailable" | "behind") => ({
    key,
    title: t(`reconciliation.${key}`),
    width: 120,
    numeric: true,
    render: (item: Item) => number(item[key]),
  });
  return [
    {
      key: "sku",
      title: t("sku.sku"),
      render: ({ sku }) => <Copyable value={sku} to={skuUrl(sku)} />,
    },
    {
      key: "status",
      title: t("reconciliation.status"),
      width: 150,
      render: ({ status }) => (
        <Badge tone={toneOf(status)}>{t(`status.${status}`, { defaultValue: status })}</Badge>
      ),
    },
    {
      key: "version",
      title: t("reconciliation.versions"),
      width: 180,
      numeric: true,
      render: ({ version, hotVersion }) => `${number(version)} / ${number(hotVersion)}`,
    },
    count("ledgerAvailable"),
    count("inFlight"),
    count("hotAvailable"),
    {
      key: "drift",
      title: t("figure.drift"),
      width: 90,
      numeric: true,
      render: ({ drift }) => (
        <span className={drift === 0 ? "ok-text" : "bad-text"}>{change(drift)}</span>
      ),
    },
    count("behind"),
    {
      key: "oldest",
      title: t("figure.oldest"),
      width: 120,
      numeric: true,
      render: ({ oldestTicketSeconds }) => duration(oldestTicketSeconds * 1_000),
    },
  ];
}
