import { useIsFetching, useQuery } from "@tanstack/react-query";
import { lazy, useEffect, useState } from "react";
import { useParams } from "react-router";
import type { Static } from "typebox";
import type { HotLookBody, LevelBody } from "../../../src/http/contract.ts";
import { call } from "../api/call.ts";
import { useMay } from "../api/session.tsx";
import { Badge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { ChainState } from "../components/chain-state.tsx";
import { Commands } from "../components/commands.tsx";
import { Copyable } from "../components/copyable.tsx";
import { Drift, ProvedAt } from "../components/drift.tsx";
import { EntryList } from "../components/entry-list.tsx";
import { ExportButton } from "../components/export-button.tsx";
import { bucketsOf, LevelBar, LevelLegend } from "../components/level-bar.tsx";
import { Loaded } from "../components/loaded.tsx";
import { Page } from "../components/page.tsx";
import { Part } from "../components/part.tsx";
import { askLevel, levelPath } from "../live/level.ts";
import { saleUrl } from "../urls.ts";
import { instantOf, useFilters } from "../use-filters.ts";
import { useWords } from "../use-words.ts";

const AsOf = lazy(async () => ({
  default: (await import("../components/as-of.tsx")).AsOf,
}));
const StockForm = lazy(async () => ({
  default: (await import("../components/stock-form.tsx")).StockForm,
}));

/** The ledger of a SKU: its level now or as of any moment, and every entry that led there. */
export function LedgerPage() {
  const { sku = "" } = useParams();
  const path = levelPath(sku);
  const asked = useQuery({ ...askLevel(sku), refetchInterval: 2_000 });
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
  const [isChanging, setChanging] = useState(false);
  const hasRead = useHasRead();
  const { sku, saleId, status, statusReason } = level;
  return (
    <Page
      title={t("ledger.title", { sku })}
      beside={
        <>
          {status === "stopped" ? (
            <Badge tone="bad">{t("sku.stopped")}</Badge>
          ) : (
            <ProvedAt value={new Date(at).toISOString()}>
              <Drift level={level} />
            </ProvedAt>
          )}
          <Copyable value={sku} />
          {saleId === null ? null : <Copyable value={saleId} to={saleUrl(saleId)} />}
        </>
      }
      actions={
        <>
          <ExportEntries sku={sku} path={path} />
          {mayOperate ? (
            <Button isPrimary onClick={() => setChanging(true)}>
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
        <Part fallback={<AsOfComing />}>
          {hasRead ? <AsOf level={level} path={path} /> : <AsOfComing />}
        </Part>
        <ChainState sku={sku} />
      </div>
      <EntryList path={path} newest={level.version} />
      <Look sku={sku} path={path} />
      <Part>{isChanging ? <StockForm sku={sku} onClose={() => setChanging(false)} /> : null}</Part>
    </Page>
  );
}

/** The same look from elsewhere: from a shell, over the API, beneath it. */
function Look({ sku, path }: { readonly sku: string; readonly path: string }) {
  const look = useQuery({
    queryKey: ["level", sku, "look"],
    queryFn: () => call<Static<typeof HotLookBody>>(`${path}/look`),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const more = look.data?.lines ?? [];
  return <Commands shell={`stock entries ${sku}`} path={`${path}/entries`} more={more} />;
}

/** The slider waits for the first entries: what it is made of takes a while to come. */
function useHasRead(): boolean {
  const isReading = useIsFetching({ queryKey: ["entries"] }) > 0;
  const [hasRead, setHasRead] = useState(false);
  useEffect(() => {
    if (!isReading) setHasRead(true);
  }, [isReading]);
  return hasRead;
}

function AsOfComing() {
  return (
    <section className="card" aria-busy="true">
      <div className="as-of-coming" />
    </section>
  );
}

function ExportEntries({ sku, path }: { readonly sku: string; readonly path: string }) {
  const { t } = useWords();
  const filters = useFilters();
  const period = { from: instantOf(filters.of("from")), to: instantOf(filters.of("to")) };
  return (
    <ExportButton
      title={t("export.title", { sku })}
      path={`${path}/entries`}
      name={sku}
      filter={period}
      words={{ all: t("export.all"), filtered: t("export.period") }}
    />
  );
}
