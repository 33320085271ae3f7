import { useQueryClient } from "@tanstack/react-query";
import { InputNumber } from "antd";
import { useState } from "react";
import type { RefundRequest, ReservationBody } from "../../../src/http/contract.ts";
import { call, operationId, segment } from "../api/call.ts";
import { soldLines } from "../live/sold-lines.ts";
import type { ReservationActName } from "../pages/reservation.tsx";
import { useWords } from "../use-words.ts";
import { AntdLook } from "./antd-look.tsx";
import { Copyable } from "./copyable.tsx";
import { Dialog } from "./dialog.tsx";
import { useSay } from "./toasts.tsx";

type ActProps = {
  readonly name: ReservationActName;
  readonly reservation: ReservationBody;
  readonly onClose: () => void;
};

export function ReservationAct({ name, reservation, onClose }: ActProps) {
  switch (name) {
    case "cancel":
      return <Cancel reservation={reservation} onClose={onClose} />;
    case "refund":
      return reservation.refundDue.length > 0 ? (
        <RefundPayment reservation={reservation} onClose={onClose} />
      ) : (
        <AntdLook>
          <RefundUnits reservation={reservation} onClose={onClose} />
        </AntdLook>
      );
  }
}

type OneProps = Omit<ActProps, "name">;

function useDone() {
  const client = useQueryClient();
  const say = useSay();
  return async (text: string): Promise<void> => {
    say(text);
    await client.invalidateQueries();
  };
}

function Cancel({ reservation, onClose }: OneProps) {
  const { t } = useWords();
  const done = useDone();
  const { reservationId } = reservation;
  return (
    <Dialog
      title={t("cancel.title")}
      action={t("cancel.action")}
      isDangerous
      needsReason
      act={async (reason) => {
        const path = `/v1/reservations/${segment(reservationId)}/cancel`;
        await call(path, { method: "POST", body: { reason } });
        await done(t("cancel.done"));
      }}
      onClose={onClose}
    >
      <p>{t("cancel.means")}</p>
      <Copyable value={reservationId} />
    </Dialog>
  );
}

/** Gives sold units back, in part or whole; they go on sale again or are lost. */
function RefundUnits({ reservation, onClose }: OneProps) {
  const { t, number } = useWords();
  const done = useDone();
  const sold = soldLines(reservation);
  const [units, setUnits] = useState<Readonly<Record<string, number>>>(
    Object.fromEntries(sold.map(({ sku, quantity }) => [sku, quantity])),
  );
  const [restock, setRestock] = useState(true);
  const [refundId] = useState(operationId);
  const items = sold.flatMap(({ sku }) => {
    const quantity = units[sku] ?? 0;
    return quantity > 0 ? [{ sku, quantity }] : [];
  });
  return (
    <Dialog
      title={t("refund.title")}
      action={t("refund.action")}
      isDangerous
      needsReason
      isReady={items.length > 0}
      act={async (reason) => {
        const body: RefundRequest = { refundId, items, restock, reason };
        await postRefund(reservation, body);
        await done(t("refund.done"));
      }}
      onClose={onClose}
    >
      <p>{t("refund.means")}</p>
      {sold.map(({ sku, quantity }) => (
        <label key={sku}>
          <span>
            <Copyable value={sku} /> <span className="hint">≤ {number(quantity)}</span>
          </span>
          <InputNumber
            min={0}
            max={quantity}
            precision={0}
            value={units[sku] ?? 0}
            onChange={(value) => setUnits((now) => ({ ...now, [sku]: value ?? 0 }))}
          />
        </label>
      ))}
      <label className="check">
        <input
          type="checkbox"
          checked={restock}
          onChange={({ target }) => setRestock(target.checked)}
        />
        {t("refund.restock")}
      </label>
      <p className="muted">{t(restock ? "refund.restockMeans" : "refund.lostMeans")}</p>
    </Dialog>
  );
}

/** Records that a payment which was due back has gone back to the buyer. */
function RefundPayment({ reservation, onClose }: OneProps) {
  const { t } = useWords();
  const done = useDone();
  const [refundId] = useState(operationId);
  const [payment] = reservation.refundDue;
  if (payment === undefined) return null;
  const { paymentId } = payment;
  return (
    <Dialog
      title={t("refund.dueTitle")}
      action={t("refund.dueAction")}
      isDangerous
      needsReason
      act={async (reason) => {
        await postRefund(reservation, { refundId, paymentId, reason });
        await done(t("refund.dueDone"));
      }}
      onClose={onClose}
    >
      <p>{t("refund.dueMeans")}</p>
      <Copyable value={paymentId} />
    </Dialog>
  );
}

function postRefund({ reservationId }: ReservationBody, body: RefundRequest): Promise<unknown> {
  const path = `/v1/reservations/${segment(reservationId)}/refund`;
  return call(path, { method: "POST", body });
}
