import { useQuery } from "@tanstack/react-query";
import type { Static } from "typebox";
import type { CheckBody, DoctorBody } from "../../../src/http/contract.ts";
import { call } from "../api/call.ts";
import { Badge, type Tone } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { CommandLine } from "../components/copyable.tsx";
import { Loaded } from "../components/loaded.tsx";
import { Page } from "../components/page.tsx";
import { useFilters } from "../use-filters.ts";
import { useWords } from "../use-words.ts";

const tones: Readonly<Record<CheckBody["state"], Tone>> = { ok: "ok", warn: "warn", fail: "bad" };
const order = ["fail", "warn", "ok"] as const;

/** What `holdfast doctor` sees: what is wrong first, each with its cause and its fix. */
export function DoctorPage() {
  const { t, number, language } = useWords();
  const filters = useFilters();
  const asked = useQuery({
    queryKey: ["doctor", language],
    queryFn: () => call<Static<typeof DoctorBody>>("/v1/doctor"),
    refetchInterval: 30_000,
  });
  const isAll = filters.of("show") !== "wrong";
  return (
    <Page
      title={t("doctor.title")}
      actions={
        <>
          <button
            type="button"
            className="tool"
            aria-pressed={!isAll}
            onClick={() => filters.set("show", isAll ? "wrong" : "")}
          >
            {t(isAll ? "doctor.onlyWrong" : "doctor.all")}
          </button>
          <Button isBusy={asked.isFetching} onClick={() => void asked.refetch()}>
            {t("doctor.again")}
          </Button>
        </>
      }
    >
      <Loaded asked={asked}>
        {({ checks }) => {
          const groups = order.map((state) => checks.filter((check) => check.state === state));
          const wrong = checks.filter(({ state }) => state !== "ok").length;
          return (
            <>
              <div className={`notice ${wrong === 0 ? "ok" : "warn"}`} role="status">
                <span className="mark">{wrong === 0 ? "✓" : "!"}</span>
                <span>
                  {t(wrong === 0 ? "doctor.well" : "doctor.wrong", {
                    wrong: number(wrong),
                    checks: number(checks.length),
                  })}
                </span>
              </div>
              <div className="checks">
                {groups
                  .flat()
                  .filter(({ state }) => isAll || state !== "ok")
                  .map((check) => (
                    <Check key={check.id} check={check} />
                  ))}
              </div>
            </>
          );
        }}
      </Loaded>
      <CommandLine text="npx holdfast doctor" />
    </Page>
  );
}

function Check({ check }: { readonly check: CheckBody }) {
  const { t } = useWords();
  const { id, state, found, cause, fix, look } = check;
  return (
    <section className="card stack-tight" data-check={id}>
      <div className="row">
        <Badge tone={tones[state]}>{t(`check.${state}`)}</Badge>
        <h2 className="mono">{id}</h2>
        <span>{found}</span>
      </div>
      {state === "ok" ? null : (
        <dl className="facts">
          <dt>{t("doctor.cause")}</dt>
          <dd>{cause}</dd>
          <dt>{t("doctor.fix")}</dt>
          <dd>{fix}</dd>
        </dl>
      )}
      {look === "" || state === "ok" ? null : <CommandLine text={look} />}
    </section>
  );
}
