import { useInfiniteQuery } from "@tanstack/react-query";
import type { Static } from "typebox";
import type { DeadLetterBody, DeadLetterPage } from "../../../src/http/contract.ts";
import { call, query } from "../api/call.ts";
import type { LetterFilter } from "../live/settle-letters.ts";
import { deadLetterUrl, skuUrl } from "../urls.ts";
import { useWords, type Words } from "../use-words.ts";
import { Badge, type Tone } from "./badge.tsx";
import { Copyable } from "./copyable.tsx";
import { Loaded } from "./loaded.tsx";
import { Empty } from "./page.tsx";
import { type Column, VirtualTable } from "./virtual-table.tsx";

type Listed = Static<typeof DeadLetterPage>;
type Letter = Listed["items"][number];

/** The letters that the filters let pass, a page at a time as one scrolls. */
export function useLetters(filter: LetterFilter, state: string) {
  const stateAsked = state === "all" ? {} : { state };
  return useInfiniteQuery({
    queryKey: ["dead-letters", state, filter],
    queryFn: ({ pageParam }) => call<Listed>(pageParam),
    initialPageParam: `/v1/dead-letters${query({ ...filter, ...stateAsked, limit: "200" })}`,
    getNextPageParam: ({ next }) => next,
    refetchInterval: 5_000,
  });
}

type ListProps = {
  readonly asked: ReturnType<typeof useLetters>;
  readonly state: string;
  readonly look: Look & { readonly open: string | undefined };
};

export function LetterList({ asked, state, look }: ListProps) {
  const words = useWords();
  const { t } = words;
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
