import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Button, Input } from "antd";
import { useState } from "react";
import { countOutcomes } from "../live/count-outcomes.ts";
import {
  type LetterFilter,
  type Outcome,
  previewAll,
  settleAll,
  settleEach,
  type Verb,
} from "../live/settle-letters.ts";
import { useWords } from "../use-words.ts";
import { Failure } from "./failure.tsx";
import { Loaded } from "./loaded.tsx";
import { Window } from "./window.tsx";

type SettleProps = {
  readonly verb: Verb;
  /** Null: all open ones that match the filter. */
  readonly ids: readonly number[] | null;
  readonly filter: LetterFilter;
  readonly onClose: () => void;
};

/** How many it will be, then the act with its reason, then what each one came to. */
export function SettleLetters(props: SettleProps) {
  const { verb, ids, filter, onClose } = props;
  const { t, number } = useWords();
  const preview = useQuery({
    queryKey: ["dead-letters", "preview", verb, filter],
    queryFn: () => previewAll(verb, filter),
    enabled: ids === null,
    gcTime: 0,
  });
  const count = ids?.length ?? preview.data?.items.length ?? null;
  return (
    <Window title={t(`settle.${verb}Title`)} onClose={onClose} width={640}>
      <p className={verb === "discard" ? "bad-text" : ""}>{t(`settle.${verb}Means`)}</p>
      {ids === null && preview.data === undefined ? (
        <Loaded asked={preview}>{() => null}</Loaded>
      ) : null}
      {count === null ? null : (
        <>
          <p data-testid="preview">
            <strong>{t("settle.count", { letters: number(count) })}</strong>{" "}
            {preview.data?.more === true ? t("settle.more") : ""}
          </p>
          <Act {...props} count={count} />
        </>
      )}
    </Window>
  );
}

function Act({ verb, ids, filter, count, onClose }: SettleProps & { readonly count: number }) {
  const { t } = useWords();
  const client = useQueryClient();
  const [phase, setPhase] = useState<"asking" | "acting" | "done">("asking");
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>([]);
  const [error, setError] = useState<unknown>(null);
  const act = async (reason: string): Promise<void> => {
    setPhase("acting");
    try {
      if (ids === null) {
        const done = await settleAll(verb, filter, { dryRun: false, reason });
        setOutcomes(done.items);
      } else {
        const onOutcome = (one: Outcome): void => setOutcomes((now) => [...now, one]);
        await settleEach(verb, ids, { reason, onOutcome });
      }
      setPhase("done");
    } catch (thrown) {
      setError(thrown);
      setPhase("asking");
    }
    await client.invalidateQueries();
  };
  if (phase === "asking") {
    return (
      <Ask
        verb={verb}
        count={count}
        error={error}
        onAct={(why) => void act(why)}
        onClose={onClose}
      />
    );
  }
  return (
    <div className="form">
      <progress
        max={Math.max(1, count)}
        value={outcomes.length}
        aria-label={t("settle.progress")}
      />
      <Outcomes outcomes={outcomes} />
      <div>
        <Button onClick={onClose} disabled={phase === "acting"}>
          {t("settle.close")}
        </Button>
      </div>
    </div>
  );
}

type AskProps = {
  readonly verb: Verb;
  readonly count: number;
  readonly error: unknown;
  readonly onAct: (reason: string) => void;
  readonly onClose: () => void;
};

function Ask({ verb, count, error, onAct, onClose }: AskProps) {
  const { t, number } = useWords();
  const [reason, setReason] = useState("");
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        onAct(reason.trim());
      }}
    >
      <label>
        {t("act.reason")}
        <Input
          name="reason"
          maxLength={200}
          value={reason}
          onChange={({ target }) => setReason(target.value)}
        />
      </label>
      {error === null ? null : <Failure error={error} />}
      <div className="row" style={{ justifyContent: "flex-end" }}>
        <Button data-safe onClick={onClose}>
          {t("act.cancel")}
        </Button>
        <Button
          type="primary"
          danger={verb === "discard"}
          htmlType="submit"
          disabled={reason.trim() === "" || count === 0}
        >
          {t(`settle.${verb}Do`, { letters: number(count) })}
        </Button>
      </div>
    </form>
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
      <ul style={{ maxHeight: 220, overflow: "auto" }}>
        {[...odd, ...good].slice(0, 200).map(({ id, outcome, detail }) => (
          <li key={id}>
            <span className="mono">{id}</span> {t(`outcome.${outcome}`, { defaultValue: outcome })}
            {detail === "" ? "" : ` · ${detail}`}
          </li>
        ))}
      </ul>
    </div>
  );
}
