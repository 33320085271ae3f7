import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { countOutcomes } from "../live/count-outcomes.ts";
import { type Chosen, type Outcome, previewOf, settle, type Verb } from "../live/settle-letters.ts";
import { useWords } from "../use-words.ts";
import { Dialog } from "./dialog.tsx";
import { Loaded } from "./loaded.tsx";

type SettleProps = {
  readonly verb: Verb;
  readonly chosen: Chosen;
  readonly onClose: () => void;
};

/** How many it will be, then the act with its reason, then what each one came to. */
export function SettleLetters({ verb, chosen, onClose }: SettleProps) {
  const { t, number } = useWords();
  const client = useQueryClient();
  const [outcomes, setOutcomes] = useState<readonly Outcome[] | null>(null);
  const preview = useQuery({
    queryKey: ["dead-letters", "preview", verb, chosen],
    queryFn: () => previewOf(verb, chosen),
    gcTime: 0,
    // What was decided on must not change under the hand that decides.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    enabled: outcomes === null,
  });
  const planned = preview.data?.items ?? [];
  const count = planned.filter(({ outcome }) => outcome === `would-${verb}`).length;
  const act = async (reason: string): Promise<void> => {
    const done = await settle(verb, chosen, { dryRun: false, reason });
    setOutcomes(done.items);
    // The preview has been decided on; there is nothing left to preview.
    await client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[1] !== "preview" });
  };
  return (
    <Dialog
      title={t(`settle.${verb}Title`)}
      action={t(`settle.${verb}Do`, { letters: number(count) })}
      isDangerous={verb === "discard"}
      needsReason
      isReady={count > 0}
      width={640}
      act={act}
      onClose={onClose}
      outcome={outcomes === null ? null : <Outcomes outcomes={outcomes} />}
    >
      <p className={verb === "discard" ? "bad-text" : ""}>{t(`settle.${verb}Means`)}</p>
      <Loaded asked={preview}>
        {({ more }) => (
          <p data-testid="preview">
            <strong>{t("settle.count", { letters: number(count) })}</strong>{" "}
            {more ? t("settle.more") : ""}
            {planned.length > count
              ? t("settle.less", { letters: number(planned.length - count) })
              : ""}
          </p>
        )}
      </Loaded>
    </Dialog>
  );
}

const fine: ReadonlySet<string> = new Set(["replayed", "discarded"]);

/** A failure among successes is not lost in their number: it stands first. */
function Outcomes({ outcomes }: { readonly outcomes: readonly Outcome[] }) {
  const { t, number } = useWords();
  const counts = Object.entries(countOutcomes(outcomes));
  const odd = outcomes.filter(({ outcome }) => !fine.has(outcome));
  const good = outcomes.filter(({ outcome }) => fine.has(outcome));
  return (
    <div data-testid="outcomes" className="stack-tight" role="status">
      <div className="row">
        {counts.map(([outcome, count]) => (
          <span key={outcome} className={`badge ${fine.has(outcome) ? "ok" : "bad"}`}>
            {t(`outcome.${outcome}`, { defaultValue: outcome })} {number(count)}
          </span>
        ))}
      </div>
      <ul className="outcomes">
        {[...odd, ...good].map(({ id, outcome, detail }) => (
          <li key={id}>
            <span className="mono">{id}</span> {t(`outcome.${outcome}`, { defaultValue: outcome })}
            {detail === "" ? "" : ` · ${t(`outcomeDetail.${detail}`, { defaultValue: detail })}`}
          </li>
        ))}
      </ul>
    </div>
  );
}
