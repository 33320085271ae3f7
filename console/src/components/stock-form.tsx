import { useQuery, useQueryClient } from "@tanstack/react-query";
import { InputNumber, Segmented } from "antd";
import { useState } from "react";
import type { LevelBody, ProblemBody } from "../../../src/http/contract.ts";
import { ApiError, call, operationId, segment } from "../api/call.ts";
import {
  balancesAfter,
  type ChangeKind,
  changeKinds,
  isDangerous,
  isPossible,
  needsQuantity,
  requestOf,
} from "../live/stock-change.ts";
import { useWords } from "../use-words.ts";
import { BeforeAfter } from "./before-after.tsx";
import { Copyable } from "./copyable.tsx";
import { Dialog } from "./dialog.tsx";
import { Failure } from "./failure.tsx";
import { Loaded } from "./loaded.tsx";
import { useSay } from "./toasts.tsx";
import { Window } from "./window.tsx";

/** Loaded when it is first opened; everything else of a page works without it. */
export function StockForm({
  sku,
  onClose,
}: {
  readonly sku: string;
  readonly onClose: () => void;
}) {
  const path = `/v1/stock/${segment(sku)}`;
  const asked = useQuery({
    queryKey: ["level", sku, "form"],
    queryFn: () => call<LevelBody>(path),
    refetchInterval: 2_000,
  });
  const { t } = useWords();
  if (asked.data !== undefined) {
    return <ChangeForm now={asked.data} path={path} onClose={onClose} />;
  }
  return (
    <Window title={t("stock.change", { sku })} onClose={onClose}>
      <Loaded asked={asked}>{() => null}</Loaded>
    </Window>
  );
}

type FormProps = {
  readonly now: LevelBody;
  readonly path: string;
  readonly onClose: () => void;
};

function ChangeForm({ now, path, onClose }: FormProps) {
  const { t, number } = useWords();
  const client = useQueryClient();
  const say = useSay();
  const [kind, setKind] = useState<ChangeKind>("restock");
  const [quantity, setQuantity] = useState<number | null>(null);
  const [decidedOn, setDecidedOn] = useState(now);
  const [operation, setOperation] = useState(operationId);
  // A total is decided on numbers that stood still; anything else adds to what there is.
  const level = kind === "adjust" ? decidedOn : now;
  const units = needsQuantity(kind) ? quantity : 0;
  const after = units === null ? null : balancesAfter(level, kind, units);
  const danger = units !== null && isDangerous(level, kind, units);
  const act = async (reason: string): Promise<void> => {
    const asked = { operationId: operation, reason, quantity: units ?? 0, version: level.version };
    await call(`${path}/${kind}`, { method: "POST", ...requestOf(kind, asked) });
    say(t("stock.done", { kind: t(`change.${kind}`), sku: level.sku }));
    await client.invalidateQueries();
  };
  const takeNewer = (newer: LevelBody): void => {
    setDecidedOn(newer);
    setOperation(operationId());
  };
  const isReady =
    after !== null && isPossible(after) && (kind !== "adjust" || !isStale(level, now));
  return (
    <Dialog
      title={t("stock.change", { sku: level.sku })}
      action={t(`change.${kind}`)}
      isDangerous={danger}
      typed={danger ? level.sku : undefined}
      needsReason
      isReady={isReady}
      width={660}
      act={act}
      onClose={onClose}
      refusal={(error) => <Refusal error={error} decidedOn={level} onTake={takeNewer} />}
    >
      <KindFields kind={kind} onKind={setKind} quantity={quantity} onQuantity={setQuantity} />
      <BeforeAfter before={level} after={after ?? level} />
      {after === null || isPossible(after) ? null : (
        <span className="bad-text">{t("stock.impossible")}</span>
      )}
      {kind === "adjust" && isStale(level, now) ? (
        <Moved decidedOn={level} newer={now} onTake={takeNewer} />
      ) : (
        <p className="muted">
          {t("stock.decidedOn", { version: number(level.version) })}{" "}
          <Copyable value={level.hash} shown={level.hash.slice(0, 10)} />
        </p>
      )}
    </Dialog>
  );
}

type KindProps = {
  readonly kind: ChangeKind;
  readonly onKind: (kind: ChangeKind) => void;
  readonly quantity: number | null;
  readonly onQuantity: (quantity: number | null) => void;
};

function KindFields({ kind, onKind, quantity, onQuantity }: KindProps) {
  const { t } = useWords();
  return (
    <>
      <Segmented
        options={changeKinds.map((value) => ({ value, label: t(`change.${value}`) }))}
        value={kind}
        onChange={onKind}
        aria-label={t("stock.kind")}
      />
      <p className="muted">{t(`changeHint.${kind}`)}</p>
      {needsQuantity(kind) ? (
        <label>
          {t(`changeQuantity.${kind}`)}
          <InputNumber
            min={kind === "adjust" || kind === "count" ? 0 : 1}
            max={1_000_000_000}
            precision={0}
            value={quantity}
            onChange={onQuantity}
            style={{ width: 220 }}
            name="quantity"
          />
        </label>
      ) : null}
    </>
  );
}

function isStale(decidedOn: LevelBody, now: LevelBody): boolean {
  return now.version > decidedOn.version;
}

type RefusalProps = {
  readonly error: unknown;
  readonly decidedOn: LevelBody;
  readonly onTake: (newer: LevelBody) => void;
};

/** Somebody was first: the newer numbers, to decide again. */
function Refusal({ error, decidedOn, onTake }: RefusalProps) {
  const newer = newerIn(error);
  if (newer === null) return <Failure error={error} />;
  return <Moved decidedOn={decidedOn} newer={newer} onTake={onTake} />;
}

function newerIn(error: unknown): LevelBody | null {
  if (!(error instanceof ApiError) || error.problem?.code !== "VERSION_MOVED") return null;
  const problem: ProblemBody & { readonly level?: LevelBody } = error.problem;
  return problem.level ?? null;
}

type MovedProps = {
  readonly decidedOn: LevelBody;
  readonly newer: LevelBody;
  readonly onTake: (newer: LevelBody) => void;
};

function Moved({ decidedOn, newer, onTake }: MovedProps) {
  const { t, number } = useWords();
  const versions = { from: number(decidedOn.version), to: number(newer.version) };
  return (
    <div className="notice warn" role="alert" data-testid="moved">
      <span className="mark" aria-hidden="true">
        !
      </span>
      <div className="stack-tight" style={{ flex: 1 }}>
        <strong>{t("stock.moved", versions)}</strong>
        <BeforeAfter before={decidedOn} after={newer} />
        <div>
          <button type="button" className="tool" onClick={() => onTake(newer)}>
            {t("stock.takeNewer")}
          </button>
        </div>
      </div>
    </div>
  );
}
