import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import type { Static } from "typebox";
import type { GivenUpBody } from "../../../src/http/contract.ts";
import { call } from "../api/call.ts";
import { useWords } from "../use-words.ts";

/** What a broker keeps in its own dead letters is not ours to list: only how much, and where. */
export function GivenUp() {
  const { t, number } = useWords();
  const asked = useQuery({
    queryKey: ["dead-letters", "given up"],
    queryFn: () => call<Static<typeof GivenUpBody>>("/v1/dead-letters/given-up"),
    refetchInterval: 30_000,
  });
  const givenUp = asked.data?.givenUp ?? 0;
  if (givenUp === 0) return null;
  return (
    <div className="notice warn" role="status" data-testid="given-up">
      <span className="mark" aria-hidden="true">
        !
      </span>
      <div className="stack-tight">
        <strong>{t("deadLetters.givenUp", { letters: number(givenUp) })}</strong>
        <span>{t("deadLetters.givenUpWhere")}</span>
        <span>
          <Link to="/doctor">{t("deadLetters.givenUpNext")}</Link>
        </span>
      </div>
    </div>
  );
}
