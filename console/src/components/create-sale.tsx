import { useQueryClient } from "@tanstack/react-query";
import { InputNumber } from "antd";
import { useState } from "react";
import { useNavigate } from "react-router";
import type { SaleBody, SaleRequest } from "../../../src/http/contract.ts";
import { call } from "../api/call.ts";
import { parseLines } from "../live/stock-lines.ts";
import { saleUrl } from "../urls.ts";
import { useWords } from "../use-words.ts";
import { AntdLook } from "./antd-look.tsx";
import { Dialog } from "./dialog.tsx";
import { useSay } from "./toasts.tsx";

/** A new sale; its SKUs are typed or pasted, a line each, as they come from a spreadsheet. */
export function CreateSale({ onClose }: { readonly onClose: () => void }) {
  const { t } = useWords();
  const client = useQueryClient();
  const go = useNavigate();
  const say = useSay();
  const [saleId, setSaleId] = useState("");
  const [title, setTitle] = useState("");
  const [holdMinutes, setHoldMinutes] = useState<number | null>(15);
  const [limit, setLimit] = useState<number | null>(null);
  const [pasted, setPasted] = useState("");
  const { lines, wrong } = parseLines(pasted);
  const act = async (): Promise<void> => {
    const body: SaleRequest = {
      saleId,
      ...(title === "" ? {} : { title }),
      holdSeconds: Math.round((holdMinutes ?? 15) * 60),
      ...(limit === null ? {} : { limitPerBuyer: limit }),
      items: [...lines],
    };
    await call<SaleBody>("/v1/sales", { method: "POST", body });
    await client.invalidateQueries({ queryKey: ["sales"] });
    say(t("create.done", { saleId }));
    await go(saleUrl(saleId));
  };
  return (
    <AntdLook>
      <Dialog
        title={t("sales.create")}
        action={t("create.action")}
        isReady={saleId !== "" && lines.length > 0 && wrong.length === 0}
        act={act}
        onClose={onClose}
      >
        <label>
          {t("create.saleId")}
          <input
            className="field mono"
            name="saleId"
            value={saleId}
            maxLength={64}
            onChange={({ target }) => setSaleId(target.value.trim())}
          />
          <span className="hint">{t("create.saleIdHint")}</span>
        </label>
        <label>
          {t("create.title")}
          <input
            className="field"
            name="title"
            value={title}
            maxLength={200}
            onChange={({ target }) => setTitle(target.value)}
          />
        </label>
        <Terms {...{ holdMinutes, setHoldMinutes, limit, setLimit }} />
        <LinesField pasted={pasted} onPaste={setPasted} />
      </Dialog>
    </AntdLook>
  );
}

type TermsProps = {
  readonly holdMinutes: number | null;
  readonly setHoldMinutes: (minutes: number | null) => void;
  readonly limit: number | null;
  readonly setLimit: (limit: number | null) => void;
};

function Terms({ holdMinutes, setHoldMinutes, limit, setLimit }: TermsProps) {
  const { t } = useWords();
  return (
    <div className="row">
      <label>
        {t("create.hold")}
        <InputNumber min={0.1} max={43_200} value={holdMinutes} onChange={setHoldMinutes} />
      </label>
      <label>
        {t("create.limit")}
        <InputNumber
          min={1}
          precision={0}
          value={limit}
          onChange={setLimit}
          placeholder={t("create.noLimit")}
        />
      </label>
    </div>
  );
}

type LinesProps = { readonly pasted: string; readonly onPaste: (text: string) => void };

function LinesField({ pasted, onPaste }: LinesProps) {
  const { t, number } = useWords();
  const { lines, wrong } = parseLines(pasted);
  const units = lines.reduce((sum, { stock }) => sum + stock, 0);
  return (
    <label>
      {t("create.lines")}
      <textarea
        className="field mono"
        name="lines"
        rows={5}
        value={pasted}
        placeholder={"phone 100\ncase 250"}
        onChange={({ target }) => onPaste(target.value)}
      />
      <span className="hint">
        {t("create.linesHint", { skus: number(lines.length), units: number(units) })}
      </span>
      {wrong.map(({ line, text }) => (
        <span className="error" key={line}>
          {t("create.wrongLine", { line, text })}
        </span>
      ))}
    </label>
  );
}
