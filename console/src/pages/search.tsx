import { useQuery } from "@tanstack/react-query";
import { Link, Navigate, useSearchParams } from "react-router";
import type { Static } from "typebox";
import type { SearchBody } from "../../../src/http/contract.ts";
import { call, query } from "../api/call.ts";
import { Commands } from "../components/commands.tsx";
import { Copyable } from "../components/copyable.tsx";
import { Loaded } from "../components/loaded.tsx";
import { Empty, Page } from "../components/page.tsx";
import { type Column, VirtualTable } from "../components/virtual-table.tsx";
import { pageOfLink } from "../urls.ts";
import { useWords, type Words } from "../use-words.ts";

type Found = Static<typeof SearchBody>;
type Hit = Found["hits"][number];

/** Any id. One hit leads there at once; none says where was looked. */
export function SearchPage() {
  const words = useWords();
  const { t } = words;
  const [asked] = useSearchParams();
  const q = asked.get("q") ?? "";
  const path = `/v1/search${query({ q })}`;
  const found = useQuery({
    queryKey: ["search", q],
    queryFn: () => call<Found>(path),
    enabled: q !== "",
  });
  if (q === "") {
    return (
      <Page title={t("search.title")}>
        <Empty title={t("search.empty")}>
          <p>{t("search.what")}</p>
        </Empty>
      </Page>
    );
  }
  return (
    <Page title={t("search.for", { q })}>
      <Loaded asked={found}>
        {({ hits, looked }) => {
          const [only] = hits;
          const place = hits.length === 1 && only !== undefined ? pageOfLink(only.link) : null;
          if (place !== null) return <Navigate to={place} replace />;
          if (hits.length === 0) return <Nothing q={q} looked={looked} />;
          return (
            <VirtualTable
              label={t("search.title")}
              rows={hits}
              columns={columnsIn(words)}
              rowKey={({ type, id, matched }) => `${type} ${id} ${matched}`}
              minWidth={760}
            />
          );
        }}
      </Loaded>
      <Commands path={path} />
    </Page>
  );
}

/** Where the words for the states of each kind of hit stand. */
const stateWords: Readonly<Record<string, string>> = {
  reservation: "reservationState",
  sale: "saleState",
  "dead-letter": "letterState",
};

function Nothing({ q, looked }: { readonly q: string; readonly looked: readonly string[] }) {
  const { t } = useWords();
  return (
    <Empty title={t("search.none", { q })}>
      <p>{t("search.looked")}</p>
      <ul data-testid="looked" style={{ textAlign: "left" }}>
        {looked.map((place) => (
          <li key={place}>{t(`looked.${place}`, { defaultValue: place })}</li>
        ))}
      </ul>
      <p>{t("search.noneNext")}</p>
    </Empty>
  );
}

function columnsIn({ t, time }: Words): Column<Hit>[] {
  return [
    {
      key: "type",
      title: t("search.type"),
      width: 130,
      render: ({ type }) => t(`hit.${type}`, { defaultValue: type }),
    },
    {
      key: "id",
      title: t("search.id"),
      render: ({ id, link }) => {
        const place = pageOfLink(link);
        return place === null ? <Copyable value={id} /> : <Copyable value={id} to={place} />;
      },
    },
    {
      key: "matched",
      title: t("search.matched"),
      width: 160,
      render: ({ matched }) => t(`matched.${matched}`, { defaultValue: matched }),
    },
    {
      key: "state",
      title: t("search.state"),
      width: 130,
      render: ({ type, state }) => t(`${stateWords[type] ?? ""}.${state}`, { defaultValue: state }),
    },
    { key: "at", title: t("search.at"), width: 190, render: ({ at }) => time(at) },
    {
      key: "go",
      title: "",
      width: 90,
      render: ({ link }) => {
        const place = pageOfLink(link);
        return place === null ? null : <Link to={place}>{t("search.open")}</Link>;
      },
    },
  ];
}
