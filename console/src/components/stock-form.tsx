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
  isRelative,
  needsQuantity,
  requestOf,
  verbOf,
} from "../live/stock-change.ts";
import { oppositeOf, undoChange } from "../live/undo-change.ts";
import { useWords } from "../use-words.ts";
import { AntdLook } from "./antd-look.tsx";
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
    return (
      <AntdLook>
        <ChangeForm now={asked.data} path={path} onClose={onClose} />
      </AntdLook>
    );
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
  const { t } = useWords();
  const client = useQueryClient();
  const say = useSay();
  const [kind, setKind] = useState<ChangeKind>("restock");
  const [quantity, setQuantity] = useState<number | null>(null);
  const decision = useDecision(now, kind);
  const { level, isStale } = decision;
  const units = needsQuantity(kind) ? quantity : 0;
  const after = units === null ? null : balancesAfter(level, kind, units);
  const danger = units !== null && isDangerous(level, kind, units);
  const act = async (reason: string): Promise<void> => {
    const { operation: operationId, version } = decision;
    const asked = { operationId, reason, quantity: units ?? 0, version };
    await call(`${path}/${verbOf(kind)}`, { method: "POST", ...requestOf(kind, asked) });
    const undone = oppositeOf(kind, { quantity: units ?? 0, before: level });
    const undo = async (): Promise<string> => {
      if (undone !== null) await undoChange(path, { ...undone, reason: t("undo.reason") });
      await client.invalidateQueries();
      return t("undo.done");
    };
    const said = t("stock.done", { kind: t(`change.${kind}`), sku: level.sku });
    say(said, undone === null || undone.quantity === 0 ? {} : { undo });
    await client.invalidateQueries();
  };
  return (
    <Dialog
      title={t("stock.change", { sku: level.sku })}
      action={t(`change.${kind}`)}
      isDangerous={danger}
      typed={danger ? level.sku : undefined}
      needsReason
      isReady={after !== null && isPossible(after) && !isStale && units !== emptyCorrection(kind)}
      width={720}
      act={act}
      onClose={onClose}
      refusal={(error) => <Refusal error={error} decision={decision} />}
    >
      <KindFields kind={kind} onKind={setKind} quantity={quantity} onQuantity={setQuantity} />
      <BeforeAfter before={level} after={after ?? level} />
      {after === null || isPossible(after) ? null : (
        <span className="bad-text">{t("stock.impossible")}</span>
      )}
      {isStale ? <Moved decision={decision} newer={now} /> : <DecidedOn decision={decision} />}
    </Dialog>
  );
}

/** A correction by nothing is refused; a restock by nothing cannot be typed. */
function emptyCorrection(kind: ChangeKind): number | null {
  return kind === "correct" ? 0 : null;
}

/** The numbers that one has in mind: they stand still until one takes newer ones. */
type Decision = {
  readonly level: LevelBody;
  /** Null: whatever there is when it comes. */
  readonly version: number | null;
  readonly operation: string;
  readonly isStale: boolean;
  readonly take: (newer: LevelBody) => void;
  /** For what adds to whatever there is; null for what is about a number that was seen. */
  readonly takeAny: (() => void) | null;
};

function useDecision(now: LevelBody, kind: ChangeKind): Decision {
  const [decidedOn, setDecidedOn] = useState(now);
  const [operation, setOperation] = useState(operationId);
  const [wantsAny, setWantsAny] = useState(false);
  const isAny = wantsAny && isRelative(kind);
  const isBound = needsQuantity(kind) && !isAny;
  const level = isBound ? decidedOn : now;
  return {
    level,
    version: isBound ? level.version : null,
    operation,
    isStale: isBound && now.version > decidedOn.version,
    take: (newer) => {
      setDecidedOn(newer);
      setOperation(operationId());
    },
    takeAny: isRelative(kind) && !isAny ? () => setWantsAny(true) : null,
  };
}

function DecidedOn({ decision }: { readonly decision: Decision }) {
  const { t, number } = useWords();
  const { level, version } = decision;
  if (version === null) return <p className="muted">{t("stock.onAny")}</p>;
  return (
    <p className="muted">
      {t("stock.decidedOn", { version: number(version) })}{" "}
      <Copyable value={level.hash} shown={level.hash.slice(0, 10)} />
    </p>
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
            min={leastOf(kind)}
            max={quantityMax}
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

const quantityMax = 1_000_000_000;

function leastOf(kind: ChangeKind): number {
  if (kind === "correct") return -quantityMax;
  return kind === "adjust" || kind === "count" ? 0 : 1;
}

type RefusalProps = { readonly error: unknown; readonly decision: Decision };

/** Somebody was first: the newer numbers, to decide again. */
function Refusal({ error, decision }: RefusalProps) {
  const newer = newerIn(error);
  // Once the form itself says so, or the newer ones are taken, that it was refused is over.
  if (newer === null) return <Failure error={error} />;
  const { version, isStale } = decision;
  if (version === null || isStale || newer.version <= version) return null;
  return <Moved decision={decision} newer={newer} />;
}

function newerIn(error: unknown): LevelBody | null {
  if (!(error instanceof ApiError) || error.problem?.code !== "VERSION_MOVED") return null;
  const problem: ProblemBody & { readonly level?: LevelBody } = error.problem;
  return problem.level ?? null;
}

type MovedProps = { readonly decision: Decision; readonly newer: LevelBody };

function Moved({ decision, newer }: MovedProps) {
  const { t, number } = useWords();
  const { level, take, takeAny } = decision;
  const versions = { from: number(level.version), to: number(newer.version) };
  return (
    <div className="notice warn" role="alert" data-testid="moved">
      <span className="mark" aria-hidden="true">
        !
      </span>
      <div className="stack-tight" style={{ flex: 1 }}>
        <strong>{t("stock.moved", versions)}</strong>
        <BeforeAfter before={level} after={newer} />
        <div className="row">
          <button type="button" className="tool" onClick={() => take(newer)}>
            {t("stock.takeNewer")}
          </button>
          {takeAny === null ? null : (
            <button type="button" className="tool" onClick={takeAny}>
              {t("stock.takeAny")}
            </button>
          )}
        </div>
      </div>
    </div>
  );
}
