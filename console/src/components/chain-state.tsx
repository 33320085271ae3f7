import { useMutation } from "@tanstack/react-query";
import type { Static } from "typebox";
import type { VerificationBody } from "../../../src/http/contract.ts";
import { call } from "../api/call.ts";
import { useMay } from "../api/session.tsx";
import { useWords } from "../use-words.ts";
import { Button } from "./button.tsx";
import { Copyable } from "./copyable.tsx";
import { Failure } from "./failure.tsx";

type Verification = Static<typeof VerificationBody>;

/** Recomputes the chain of hashes, the sums and the buckets of one SKU, or of all. */
export function ChainState({ sku }: { readonly sku: string | null }) {
  const { t } = useWords();
  const mayVerify = useMay("operator");
  const verify = useMutation({
    mutationFn: () =>
      call<Verification>("/v1/audit/verify", {
        method: "POST",
        body: sku === null ? {} : { sku },
      }),
  });
  return (
    <section className="card stack-tight" data-testid="chain">
      <div className="row">
        <h2 style={{ flex: 1 }}>{t("chain.title")}</h2>
        <Button isBusy={verify.isPending} disabled={!mayVerify} onClick={() => verify.mutate()}>
          {t("chain.verify")}
        </Button>
      </div>
      <p className="muted">{t(mayVerify ? "chain.what" : "chain.needsOperator")}</p>
      {verify.error === null ? null : <Failure error={verify.error} />}
      {verify.data === undefined ? null : <Verdict verdict={verify.data} />}
    </section>
  );
}

function Verdict({ verdict }: { readonly verdict: Verification }) {
  const { t, number } = useWords();
  const { ok, entries, skus, firstBroken } = verdict;
  if (ok || firstBroken === null) {
    return (
      <div className="notice ok" role="status">
        <span className="mark">✓</span>
        <span>{t("chain.whole", { entries: number(entries), skus: number(skus) })}</span>
      </div>
    );
  }
  const where = { sku: firstBroken.sku, version: number(firstBroken.version) };
  return (
    <div className="notice bad" role="alert">
      <span className="mark">✖</span>
      <div className="stack-tight">
        <strong>{t("chain.broken", where)}</strong>
        <span>{firstBroken.what}</span>
        <span>
          {t("chain.expected")} <Copyable value={firstBroken.expected} />
        </span>
        <span>
          {t("chain.found")} <Copyable value={firstBroken.found} />
        </span>
      </div>
    </div>
  );
}
