import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { SaleBody } from "../../../src/http/contract.ts";
import { call, operationId, segment } from "../api/call.ts";
import type { Move } from "../pages/sale.tsx";
import { useWords } from "../use-words.ts";
import { SaleState } from "./badge.tsx";
import { Dialog } from "./dialog.tsx";
import { useSay } from "./toasts.tsx";

const after: Readonly<Record<Move, SaleBody["state"]>> = {
  open: "open",
  pause: "paused",
  close: "closed",
};

/** What was open before can be opened again; a draft and a closed sale cannot be come back to. */
function undoneBy(move: Move, before: SaleBody["state"]): Move | null {
  if (move === "pause" && before === "open") return "open";
  return move === "open" && before === "paused" ? "pause" : null;
}

function pathOf({ saleId }: SaleBody, move: Move): string {
  return `/v1/sales/${segment(saleId)}/${move}`;
}

type MoveProps = {
  readonly sale: SaleBody;
  readonly move: Move;
  readonly onClose: () => void;
};

/** Opens, pauses or closes a sale, saying what that means to whom. */
export function SaleMove({ sale, move, onClose }: MoveProps) {
  const { t } = useWords();
  const client = useQueryClient();
  const say = useSay();
  const [operation] = useState(operationId);
  // What was on the page when one decided; somebody else's move in between refuses this one.
  const [revision] = useState(sale.revision);
  const act = async (reason: string): Promise<void> => {
    const path = pathOf(sale, move);
    const headers = { "if-match": `"${revision}"` };
    const body = { operationId: operation, reason };
    await call<SaleBody>(path, { method: "POST", body, headers });
    const done = (state: SaleBody["state"]): string =>
      t("move.done", { saleId: sale.saleId, state: t(`saleState.${state}`) });
    const back = undoneBy(move, sale.state);
    const undo = async (): Promise<string> => {
      const again = { operationId: operationId(), reason: t("undo.reason") };
      await call<SaleBody>(pathOf(sale, back ?? move), { method: "POST", body: again });
      await client.invalidateQueries();
      return done(sale.state);
    };
    say(done(after[move]), back === null ? {} : { undo });
    await client.invalidateQueries();
  };
  return (
    <Dialog
      title={t(`move.title.${move}`, { saleId: sale.saleId })}
      action={t(`move.${move}`)}
      isDangerous={move === "close"}
      typed={move === "close" ? sale.saleId : undefined}
      needsReason
      act={act}
      onClose={onClose}
    >
      <p>{t(`move.means.${move}`)}</p>
      <div className="row">
        <SaleState state={sale.state} /> <span aria-hidden="true">→</span>
        <SaleState state={after[move]} />
      </div>
    </Dialog>
  );
}
