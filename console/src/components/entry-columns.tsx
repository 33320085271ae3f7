import type { EntryBody } from "../../../src/http/contract.ts";
import { reservationUrl } from "../urls.ts";
import type { Words } from "../use-words.ts";
import { Copyable } from "./copyable.tsx";
import type { Column } from "./virtual-table.tsx";

const balances = ["available", "reserved", "sold", "frozen", "lost"] as const;

/** An entry: what moved from where to where, what stood in each bucket after, by whom and why. */
export function entryColumns({ t, number, time }: Words): Column<EntryBody>[] {
  return [
    {
      key: "version",
      title: t("entry.version"),
      width: 90,
      numeric: true,
      render: ({ version }) => number(version),
    },
    { key: "at", title: t("entry.at"), width: 180, render: ({ at }) => time(at) },
    {
      key: "operation",
      title: t("entry.operation"),
      width: 110,
      render: ({ operation }) => t(`operation.${operation}`, { defaultValue: operation }),
    },
    {
      key: "moved",
      title: t("entry.moved"),
      width: 230,
      render: ({ quantity, from, to }) =>
        from === null || to === null
          ? t("entry.nothing")
          : `${number(quantity)} · ${t(`bucket.${from}`)} → ${t(`bucket.${to}`)}`,
    },
    ...balances.map(
      (name): Column<EntryBody> => ({
        key: name,
        title: t(`bucket.${name}`),
        width: 86,
        numeric: true,
        render: ({ after }) => number(after[name]),
      }),
    ),
    {
      key: "about",
      title: t("entry.about"),
      render: ({ reservationId, operationId }) =>
        reservationId === null ? (
          <Copyable value={operationId} />
        ) : (
          <Copyable value={reservationId} to={reservationUrl(reservationId)} />
        ),
    },
    {
      key: "who",
      title: t("entry.who"),
      width: 190,
      render: ({ actor, reason }) => (
        <span title={reason}>{reason === "" ? actor : `${actor} · ${reason}`}</span>
      ),
    },
    {
      key: "hash",
      title: t("entry.hash"),
      width: 130,
      render: ({ hash }) => <Copyable value={hash} shown={hash.slice(0, 8)} />,
    },
  ];
}
