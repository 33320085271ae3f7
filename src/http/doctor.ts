import type { Health, Oversight, Reconciliation } from "../engine/engine.ts";
import type { CheckBody } from "./contract.ts";

/** The checks that the running server can make of itself. Each says what to do about it. */
export async function checkUp(oversight: Oversight): Promise<CheckBody[]> {
  const health = await oversight.health();
  const checks = health.parts.map(partCheck);
  // Without its stores there is nothing more to compare.
  if (!health.ready) return checks;
  const [report, counts] = await Promise.all([oversight.reconciliation(), oversight.counts()]);
  return [...checks, ...proofChecks(report), deadLetterCheck(counts.deadLetters)];
}

function partCheck({ name, ok, ms, detail }: Health["parts"][number]): CheckBody {
  return check(name, ok ? "ok" : "fail", {
    found: ok ? `answers in ${Math.round(ms)} ms` : detail,
    cause: ok ? "" : `the ${name} store is away or refuses`,
    fix: ok ? "" : "start it, or correct its URL; nothing that was promised is lost meanwhile",
  });
}

function proofChecks(report: Reconciliation): CheckBody[] {
  const { drift, behind, closed, stopped, skus } = report;
  return [
    check("drift", drift === 0 ? "ok" : "fail", {
      found: `${drift} units of drift over ${skus} SKUs`,
      cause: drift === 0 ? "" : "hot stock is not what the ledger and the tickets in flight say",
      fix: drift === 0 ? "" : "POST /v1/reconciliation/repair with dryRun, then without",
    }),
    check("behind", behind === 0 ? "ok" : "warn", {
      found: `${behind} versions not yet projected`,
      cause: behind === 0 ? "" : "normal under traffic; a fault if it does not fall at rest",
      fix: behind === 0 ? "" : "look again when traffic rests; look at worker_failures_total",
    }),
    check("lanes", closed === 0 ? "ok" : "fail", {
      found: `${closed} lanes closed`,
      cause: closed === 0 ? "" : "hot stock is being rebuilt, or cannot be",
      fix: closed === 0 ? "" : "wait for the rebuild; if it does not end, look at the stores",
    }),
    check("stopped-skus", stopped === 0 ? "ok" : "warn", {
      found: `${stopped} SKUs stopped`,
      cause: stopped === 0 ? "" : "an operator, or a proof that did not hold",
      fix: stopped === 0 ? "" : "POST /v1/audit/verify, then /v1/stock/{sku}/resume with a reason",
    }),
  ];
}

function deadLetterCheck(count: number): CheckBody {
  return check("dead-letters", count === 0 ? "ok" : "warn", {
    found: `${count} open dead letters`,
    cause: count === 0 ? "" : "messages that could not be decided",
    fix: count === 0 ? "" : "GET /v1/dead-letters, then replay or discard with a reason",
  });
}

function check(
  id: string,
  state: CheckBody["state"],
  words: Omit<CheckBody, "id" | "state">,
): CheckBody {
  return { id, state, ...words };
}
