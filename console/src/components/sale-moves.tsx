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
  const act = async (): Promise<void> => {
    const path = `/v1/sales/${segment(sale.saleId)}/${move}`;
    const headers = { "if-match": `"${revision}"` };
    await call<SaleBody>(path, { method: "POST", body: { operationId: operation }, headers });
    say(t("move.done", { saleId: sale.saleId, state: t(`saleState.${after[move]}`) }));
    await client.invalidateQueries();
  };
  return (
    <Dialog
      title={t(`move.title.${move}`, { saleId: sale.saleId })}
      action={t(`move.${move}`)}
      isDangerous={move === "close"}
      typed={move === "close" ? sale.saleId : undefined}
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
