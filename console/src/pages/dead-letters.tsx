import { useInfiniteQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { useNavigate, useParams } from "react-router";
import type { Static } from "typebox";
import type { DeadLetterBody, DeadLetterPage } from "../../../src/http/contract.ts";
import { call, query } from "../api/call.ts";
import { useMay } from "../api/session.tsx";
import { Badge, type Tone } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { Commands } from "../components/commands.tsx";
import { Copyable } from "../components/copyable.tsx";
import { DeadLetterView } from "../components/dead-letter-view.tsx";
import { ExportButton } from "../components/export-button.tsx";
import { ChoiceFilter, TextFilter } from "../components/filter-fields.tsx";
import { GivenUp } from "../components/given-up.tsx";
import { Loaded } from "../components/loaded.tsx";
import { Empty, Page } from "../components/page.tsx";
import { type Column, VirtualTable } from "../components/virtual-table.tsx";
import type { LetterFilter, Verb } from "../live/settle-letters.ts";
import { deadLetterUrl, skuUrl } from "../urls.ts";
import { useFilters } from "../use-filters.ts";
import { useWords, type Words } from "../use-words.ts";

const SettleLetters = lazy(async () => ({
  default: (await import("../components/settle-letters.tsx")).SettleLetters,
}));

type Letter = Omit<DeadLetterBody, "bodyBase64">;
type Listed = Static<typeof DeadLetterPage>;

const states = ["open", "replayed", "discarded"] as const;
/** What one call takes. */
const settledMax = 1_000;
const filterNames = ["reason", "itemId", "lane"] as const;

/** Messages that could not be decided. Looking never changes one. */
export function DeadLettersPage() {
  const { t } = useWords();
  const { id } = useParams();
  const go = useNavigate();
  const filters = useFilters();
  const { search } = filters;
  const { selected, select, clear } = useSelection();
  const [settling, setSettling] = useState<{ verb: Verb; all: boolean } | null>(null);
  const state = filters.of("state") || "open";
  const filter = {
    reason: filters.of("reason"),
    itemId: filters.of("itemId"),
    lane: filters.of("lane").replace(/\D/g, ""),
  };
  const exported = { ...filter, state: state === "all" ? "" : state };
  return (
    <Page
      title={t("deadLetters.title")}
      actions={
        <ExportButton
          title={t("deadLetters.export")}
          path="/v1/dead-letters"
          name="dead-letters"
          filter={exported}
          words={{ all: t("deadLetters.exportAll"), filtered: t("export.filtered") }}
        />
      }
    >
      <GivenUp />
      <div className="filters">
        <LetterFilters filters={filters} state={state} />
        <span style={{ flex: 1 }} />
        <SettleButtons
          selected={selected.size}
          isOpen={state === "open"}
          onSettle={(verb, all) => setSettling({ verb, all })}
        />
      </div>
      {id === undefined ? null : (
        <DeadLetterView id={id} onClose={() => void go(`/dead-letters${search}`)} />
      )}
      <LetterList filter={filter} state={state} look={{ selected, select, search, open: id }} />
      <Commands shell="dead-letters list" path={`/v1/dead-letters${query(exported)}`} />
      <Suspense>
        {settling === null ? null : (
          <SettleLetters
            verb={settling.verb}
            chosen={settling.all ? filter : { ids: [...selected] }}
            onClose={() => {
              setSettling(null);
              clear();
            }}
          />
        )}
      </Suspense>
    </Page>
  );
}

function useSelection() {
  const [selected, setSelected] = useState<ReadonlySet<number>>(new Set());
  const select = (letters: readonly number[], isOn: boolean): void =>
    setSelected((now) => {
      const rest = [...now].filter((id) => !letters.includes(id));
      return new Set(isOn ? [...rest, ...letters].slice(0, settledMax) : rest);
    });
  return { selected, select, clear: () => setSelected(new Set()) };
}

type ListProps = {
  readonly filter: LetterFilter;
  readonly state: string;
  readonly look: Look & { readonly open: string | undefined };
};

function LetterList({ filter, state, look }: ListProps) {
  const words = useWords();
  const { t } = words;
  const stateAsked = state === "all" ? {} : { state };
  const asked = useInfiniteQuery({
    queryKey: ["dead-letters", state, filter],
    queryFn: ({ pageParam }) => call<Listed>(pageParam),
    initialPageParam: `/v1/dead-letters${query({ ...filter, ...stateAsked, limit: "200" })}`,
    getNextPageParam: ({ next }) => next,
    refetchInterval: 5_000,
  });
  return (
    <Loaded asked={asked}>
      {({ pages }) => {
        const rows: Letter[] = pages.flatMap(({ items }) => items);
        if (rows.length === 0) {
          return (
            <Empty title={t(`deadLetters.none.${state}`)}>
              <p>{t("deadLetters.noneNext")}</p>
            </Empty>
          );
        }
        return (
          <VirtualTable
            label={t("deadLetters.title")}
            rows={rows}
            columns={columnsIn(words, look, rows)}
            rowKey={({ id }) => String(id)}
            minWidth={1_100}
            isOpen={({ id }) => String(id) === look.open}
            onEnd={asked.hasNextPage ? () => void asked.fetchNextPage() : undefined}
          />
        );
      }}
    </Loaded>
  );
}

type Filters = ReturnType<typeof useFilters>;

function LetterFilters({ filters, state }: { readonly filters: Filters; readonly state: string }) {
  const { t } = useWords();
  return (
    <>
      <ChoiceFilter
        label={t("deadLetters.state")}
        value={state}
        choices={[
          ...states.map((name) => [name, t(`letterState.${name}`)] as const),
          ["all", t("filter.all")],
        ]}
        onChange={(value) => filters.set("state", value)}
      />
      {filterNames.map((name) => (
        <TextFilter key={name} filters={filters} name={name} label={t(`deadLetters.${name}`)} />
      ))}
    </>
  );
}

type SettleProps = {
  readonly selected: number;
  readonly isOpen: boolean;
  readonly onSettle: (verb: Verb, all: boolean) => void;
};

function SettleButtons({ selected, isOpen, onSettle }: SettleProps) {
  const { t, number } = useWords();
  const may = { replay: useMay("operator"), discard: useMay("admin") };
  const verbs = (["replay", "discard"] as const).filter((verb) => may[verb]);
  return (
    <>
      {verbs.map((verb) => (
        <Button
          key={verb}
          isDangerous={verb === "discard"}
          disabled={selected === 0}
          onClick={() => onSettle(verb, false)}
        >
          {t(`settle.${verb}Selected`, { letters: number(selected) })}
        </Button>
      ))}
      {(isOpen ? verbs : []).map((verb) => (
        <Button key={verb} isDangerous={verb === "discard"} onClick={() => onSettle(verb, true)}>
          {t(`settle.${verb}All`)}
        </Button>
      ))}
    </>
  );
}

const tones: Readonly<Record<DeadLetterBody["state"], Tone>> = {
  open: "bad",
  replayed: "ok",
  discarded: "plain",
};

type Look = {
  readonly selected: ReadonlySet<number>;
  readonly select: (ids: readonly number[], isOn: boolean) => void;
  readonly search: string;
};

function columnsIn(words: Words, look: Look, rows: readonly Letter[]): Column<Letter>[] {
  return [...choosing(words, look, rows), ...telling(words)];
}

function choosing(
  { t }: Words,
  { selected, select, search }: Look,
  rows: readonly Letter[],
): Column<Letter>[] {
  const open = rows.flatMap(({ id, state }) => (state === "open" ? [id] : []));
  return [
    {
      key: "select",
      title: (
        <input
          type="checkbox"
          disabled={open.length === 0}
          aria-label={t("deadLetters.selectAll")}
          checked={open.length > 0 && open.every((id) => selected.has(id))}
          onChange={({ target }) => select(open, target.checked)}
        />
      ),
      width: 46,
      render: ({ id, state }) => (
        <input
          type="checkbox"
          disabled={state !== "open"}
          aria-label={t("deadLetters.selectOne", { id })}
          checked={selected.has(id)}
          onChange={({ target }) => select([id], target.checked)}
        />
      ),
    },
    {
      key: "id",
      title: t("deadLetters.id"),
      width: 100,
      render: ({ id }) => <Copyable value={String(id)} to={`${deadLetterUrl(id)}${search}`} />,
    },
  ];
}

function telling({ t, number, time }: Words): Column<Letter>[] {
  return [
    {
      key: "state",
      title: t("deadLetters.state"),
      width: 120,
      render: ({ state }) => <Badge tone={tones[state]}>{t(`letterState.${state}`)}</Badge>,
    },
    { key: "reason", title: t("deadLetters.reason"), render: ({ reason }) => reason },
    {
      key: "item",
      title: t("deadLetters.itemId"),
      width: 240,
      render: ({ itemId }) => (itemId === null ? "–" : <Copyable value={itemId} />),
    },
    {
      key: "sku",
      title: t("sku.sku"),
      width: 160,
      render: ({ sku }) => (sku === null ? "–" : <Copyable value={sku} to={skuUrl(sku)} />),
    },
    {
      key: "lane",
      title: t("deadLetters.lane"),
      width: 80,
      numeric: true,
      render: ({ lane }) => number(lane),
    },
    {
      key: "tries",
      title: t("deadLetters.tries"),
      width: 80,
      numeric: true,
      render: ({ tries }) => number(tries),
    },
    {
      key: "created",
      title: t("deadLetters.created"),
      width: 180,
      render: ({ createdAt }) => time(createdAt),
    },
  ];
}
