import { useQuery } from "@tanstack/react-query";
import type { DeadLetterBody } from "../../../src/http/contract.ts";
import { call, segment } from "../api/call.ts";
import { bytesAsText } from "../live/bytes-as-text.ts";
import { useWords } from "../use-words.ts";
import { CopyButton } from "./copyable.tsx";
import { Loaded } from "./loaded.tsx";

/** One dead letter with its bytes; it stays where it is. */
export function DeadLetterView({
  id,
  onClose,
}: {
  readonly id: string;
  readonly onClose: () => void;
}) {
  const { t } = useWords();
  const asked = useQuery({
    queryKey: ["dead-letter", id],
    queryFn: () => call<DeadLetterBody>(`/v1/dead-letters/${segment(id)}`),
  });
  return (
    <section className="card stack-tight" data-testid="letter">
      <div className="row">
        <h2 style={{ flex: 1 }}>{t("deadLetters.one", { id })}</h2>
        <button type="button" className="tool" onClick={onClose}>
          {t("deadLetters.close")}
        </button>
      </div>
      <Loaded asked={asked}>{(letter) => <Letter letter={letter} />}</Loaded>
    </section>
  );
}

function Letter({ letter }: { readonly letter: DeadLetterBody }) {
  const { t, number, time } = useWords();
  const text = bytesAsText(letter.bodyBase64 ?? "");
  const settled =
    letter.settledAt === null
      ? "–"
      : `${time(letter.settledAt)} · ${letter.settledBy ?? ""} · ${letter.settledReason ?? ""}`;
  return (
    <>
      <dl className="facts">
        <dt>{t("deadLetters.reason")}</dt>
        <dd>{letter.reason}</dd>
        <dt>{t("deadLetters.kind")}</dt>
        <dd>{letter.kind ?? "–"}</dd>
        <dt>{t("deadLetters.settled")}</dt>
        <dd>{settled}</dd>
        <dt>{t("deadLetters.bytes")}</dt>
        <dd>
          {number(letter.bytes)} <CopyButton value={text} />
        </dd>
      </dl>
      <pre className="command mono" style={{ margin: 0, maxHeight: 260, overflow: "auto" }}>
        {text}
      </pre>
      <p className="muted">{t("deadLetters.looking")}</p>
    </>
  );
}
