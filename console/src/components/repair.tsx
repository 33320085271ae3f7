import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { Static } from "typebox";
import type { RepairBody } from "../../../src/http/contract.ts";
import { call } from "../api/call.ts";
import { useMay } from "../api/session.tsx";
import { useWords } from "../use-words.ts";
import { Badge } from "./badge.tsx";
import { CommandLine, Copyable } from "./copyable.tsx";
import { Dialog } from "./dialog.tsx";
import { Loaded } from "./loaded.tsx";
import { useSay } from "./toasts.tsx";

type Plan = Static<typeof RepairBody>;

/** First what would be done, line by line; then, with a reason, exactly that. */
export function Repair({ onClose }: { readonly onClose: () => void }) {
  const { t, number } = useWords();
  const client = useQueryClient();
  const say = useSay();
  const mayApply = useMay("admin");
  const plan = useQuery({
    queryKey: ["repair"],
    queryFn: () => repair({ dryRun: true }),
    staleTime: 0,
    gcTime: 0,
  });
  const actions = plan.data?.actions ?? [];
  const rebuilds = actions.filter(({ action }) => action !== "none");
  return (
    <Dialog
      title={t("repair.title")}
      action={t("repair.apply", { count: rebuilds.length })}
      isDangerous
      needsReason={rebuilds.length > 0}
      width={720}
      isReady={rebuilds.length > 0 && mayApply}
      act={async (reason) => {
        const done = await repair({ dryRun: false, reason });
        const count = done.actions.filter((action) => action.done).length;
        say(t("repair.done", { actions: number(count) }));
        await client.invalidateQueries();
      }}
      onClose={onClose}
    >
      <p>{t("repair.means")}</p>
      <Loaded asked={plan}>
        {() =>
          actions.length === 0 ? (
            <div className="notice ok">
              <span>{t("repair.nothing")}</span>
            </div>
          ) : (
            <ul
              className="stack-tight"
              data-testid="plan"
              style={{ listStyle: "none", padding: 0 }}
            >
              {actions.map((line) => (
                <PlanLine key={`${line.action} ${line.subject}`} line={line} />
              ))}
            </ul>
          )
        }
      </Loaded>
      {mayApply ? null : <p className="warn-text">{t("repair.needsAdmin")}</p>}
    </Dialog>
  );
}

function repair(body: { dryRun: boolean; reason?: string }): Promise<Plan> {
  return call<Plan>("/v1/reconciliation/repair", { method: "POST", body });
}

function PlanLine({ line }: { readonly line: Plan["actions"][number] }) {
  const { t } = useWords();
  return (
    <li className="stack-tight">
      <div className="row">
        <Badge tone={line.action === "none" ? "bad" : "warn"}>{t(`repair.${line.action}`)}</Badge>
        <Copyable value={line.subject} />
      </div>
      <span>{line.reason}</span>
      <CommandLine text={line.look} />
    </li>
  );
}
