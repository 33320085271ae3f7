import { useQuery } from "@tanstack/react-query";
import { lazy, useState } from "react";
import { useParams } from "react-router";
import type { ReservationBody, TimelineBody } from "../../../src/http/contract.ts";
import { call, segment } from "../api/call.ts";
import { useMay } from "../api/session.tsx";
import { ReservationState } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { Commands } from "../components/commands.tsx";
import { Copyable } from "../components/copyable.tsx";
import { Loaded } from "../components/loaded.tsx";
import { Money } from "../components/money.tsx";
import { Page } from "../components/page.tsx";
import { Part } from "../components/part.tsx";
import { Timeline } from "../components/timeline.tsx";
import { useNow } from "../live/use-now.ts";
import { saleUrl, searchUrl, skuUrl } from "../urls.ts";
import { useWords } from "../use-words.ts";

const ReservationAct = lazy(async () => ({
  default: (await import("../components/reservation-acts.tsx")).ReservationAct,
}));

export type ReservationActName = "cancel" | "refund";

/** One order: what it is, what it holds, where its money is, and every step that it took. */
export function ReservationPage() {
  const { reservationId = "" } = useParams();
  const path = `/v1/reservations/${segment(reservationId)}`;
  const asked = useQuery({
    queryKey: ["reservation", reservationId],
    queryFn: () => call<ReservationBody>(path),
    refetchInterval: 2_000,
  });
  const { t } = useWords();
  if (asked.data === undefined) {
    return (
      <Page title={t("reservation.title")} beside={<Copyable value={reservationId} />}>
        <Loaded asked={asked}>{() => null}</Loaded>
      </Page>
    );
  }
  return (
    <Loaded asked={asked}>
      {(reservation) => <Known reservation={reservation} path={path} />}
    </Loaded>
  );
}

type KnownProps = { readonly reservation: ReservationBody; readonly path: string };

function Known({ reservation, path }: KnownProps) {
  const { t } = useWords();
  const [act, setAct] = useState<ReservationActName | null>(null);
  const mayOperate = useMay("operator");
  const { reservationId, state, revived } = reservation;
  const timeline = useQuery({
    queryKey: ["timeline", reservationId, state, reservation.refunds.length],
    queryFn: () => call<TimelineBody>(`${path}/timeline`),
    refetchInterval: 5_000,
  });
  return (
    <Page
      title={t("reservation.title")}
      beside={
        <>
          <ReservationState state={state} />
          {revived ? <span className="badge warn">{t("reservation.revived")}</span> : null}
          <Copyable value={reservationId} />
        </>
      }
      actions={
        mayOperate
          ? actsOf(reservation).map((name) => (
              <Button key={name} isDangerous onClick={() => setAct(name)}>
                {t(`reservationAct.${name}`)}
              </Button>
            ))
          : null
      }
    >
      <div className="grid">
        <Facts reservation={reservation} />
        <Money reservation={reservation} />
      </div>
      <section className="card">
        <h2>{t("timeline.title")}</h2>
        <Loaded asked={timeline}>{({ items }) => <Timeline steps={items} />}</Loaded>
      </section>
      <Commands path={`${path}/timeline`} />
      <Part>
        {act === null ? null : (
          <ReservationAct name={act} reservation={reservation} onClose={() => setAct(null)} />
        )}
      </Part>
    </Page>
  );
}

/** What may be asked for in this state; the ledger decides. */
function actsOf({ state, refundDue }: ReservationBody): readonly ReservationActName[] {
  if (state === "pending" || state === "reserved") return ["cancel"];
  return state === "confirmed" || refundDue.length > 0 ? ["refund"] : [];
}

function Facts({ reservation }: { readonly reservation: ReservationBody }) {
  const { t, number, time } = useWords();
  const { saleId, buyerId, items, code, reason } = reservation;
  return (
    <section className="card">
      <h2>{t("reservation.what")}</h2>
      <dl className="facts">
        <dt>{t("reservation.sale")}</dt>
        <dd>{saleId === null ? "–" : <Copyable value={saleId} to={saleUrl(saleId)} />}</dd>
        <dt>{t("reservation.buyer")}</dt>
        <dd>{buyerId === null ? "–" : <Copyable value={buyerId} to={searchUrl(buyerId)} />}</dd>
        <dt>{t("reservation.items")}</dt>
        <dd>
          {items.map(({ sku, quantity }) => (
            <div key={sku}>
              {number(quantity)} × <Copyable value={sku} to={skuUrl(sku)} />
            </div>
          ))}
        </dd>
        <dt>{t("reservation.created")}</dt>
        <dd>{time(reservation.createdAt)}</dd>
        <dt>{t("reservation.decided")}</dt>
        <dd>{time(reservation.decidedAt)}</dd>
        <Deadline reservation={reservation} />
        <dt>{t("reservation.ended")}</dt>
        <dd>{time(reservation.endedAt)}</dd>
        {code === null ? null : (
          <>
            <dt>{t("reservation.code")}</dt>
            <dd className="mono">{code}</dd>
          </>
        )}
        {reason === null || reason === "" ? null : (
          <>
            <dt>{t("act.reason")}</dt>
            <dd>{reason}</dd>
          </>
        )}
      </dl>
    </section>
  );
}

function Deadline({ reservation: { expiresAt, state } }: { reservation: ReservationBody }) {
  const { t, time, duration } = useWords();
  const now = useNow(1_000);
  const left = expiresAt === null ? null : Date.parse(expiresAt) - now;
  return (
    <>
      <dt>{t("reservation.expires")}</dt>
      <dd>
        {time(expiresAt)}
        {state === "reserved" && left !== null && left > 0 ? (
          <span className="muted"> · {t("reservation.left", { time: duration(left) })}</span>
        ) : null}
      </dd>
    </>
  );
}
