import type { TimelineBody } from "../../../src/http/contract.ts";
import { skuUrl } from "../urls.ts";
import { useWords } from "../use-words.ts";
import { Copyable } from "./copyable.tsx";

type Step = TimelineBody["items"][number];

/** Every step of an order, in time: in which store, by whom, at which entry. */
export function Timeline({ steps }: { readonly steps: readonly Step[] }) {
  const { t } = useWords();
  if (steps.length === 0) return <p className="muted">{t("timeline.none")}</p>;
  return (
    <ol className="timeline" data-testid="timeline">
      {steps.map((step) => (
        <li
          key={[step.step, step.at, step.sku, step.version, step.detail].join(" ")}
          className={step.store}
        >
          <StepLine step={step} />
        </li>
      ))}
    </ol>
  );
}

function StepLine({ step }: { readonly step: Step }) {
  const { t, clock, number } = useWords();
  const { sku, quantity, version, hash, attempt, detail, actor } = step;
  return (
    <div className="stack-tight" style={{ gap: 2 }}>
      <div className="row">
        <strong>{t(`step.${step.step}`, { defaultValue: step.step })}</strong>
        <span className="badge">{t(`store.${step.store}`)}</span>
        <time className="muted" dateTime={step.at} title={step.at}>
          {clock(step.at, 3)}
        </time>
        {actor === "" ? null : <span className="muted">{t("timeline.by", { actor })}</span>}
        {attempt === null ? null : (
          <span className="muted">{t("timeline.attempt", { attempt: number(attempt) })}</span>
        )}
      </div>
      <div className="row muted">
        {sku === null ? null : (
          <span>
            {quantity === null ? "" : `${number(quantity)} × `}
            <Copyable value={sku} to={skuUrl(sku)} />
          </span>
        )}
        {version === null ? null : <span>{t("timeline.entry", { version: number(version) })}</span>}
        {hash === null ? null : <Copyable value={hash} shown={hash.slice(0, 10)} />}
        {detail === "" ? null : <span>{t(`stepDetail.${detail}`, { defaultValue: detail })}</span>}
        <Call step={step} />
      </div>
    </div>
  );
}

/** By which call: its id as other systems log it, and its trace where those are kept. */
function Call({ step: { requestId, traceId, traceUrl } }: { readonly step: Step }) {
  const { t } = useWords();
  if (requestId === null) return null;
  return (
    <>
      <span>
        {t("timeline.request")} <Copyable value={requestId} />
      </span>
      {traceId === null ? null : (
        <span>
          {t("timeline.trace")} <Copyable value={traceId} shown={traceId.slice(0, 10)} />
          {traceUrl === null ? null : (
            <a href={traceUrl} target="_blank" rel="noreferrer">
              {t("timeline.openTrace")}
            </a>
          )}
        </span>
      )}
    </>
  );
}
