import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Segmented } from "antd";
import { useMemo, useState } from "react";
import {
  applyImport,
  type ImportKind,
  importKinds,
  importLinesMax,
  type LineOutcome,
  type PlannedLine,
  planImport,
} from "../live/stock-import.ts";
import { parseLines } from "../live/stock-lines.ts";
import { useSettled } from "../live/use-settled.ts";
import { useWords } from "../use-words.ts";
import { AntdLook } from "./antd-look.tsx";
import { Dialog } from "./dialog.tsx";
import { Loaded } from "./loaded.tsx";

const quietMs = 400;

/** Many SKUs at once, out of a spreadsheet: what it would do, then what became of each line. */
export function StockImport({ onClose }: { readonly onClose: () => void }) {
  const { t, number } = useWords();
  const client = useQueryClient();
  const [kind, setKind] = useState<ImportKind>("restock");
  const [pasted, setPasted] = useState("");
  const [outcomes, setOutcomes] = useState<readonly LineOutcome[] | null>(null);
  const settled = useSettled(pasted, quietMs);
  const { lines, wrong } = useMemo(() => parseLines(settled), [settled]);
  const tooMany = lines.length > importLinesMax;
  const plan = useQuery({
    queryKey: ["stock", "import", kind, settled],
    queryFn: ({ signal }) => planImport(lines, kind, signal),
    enabled: lines.length > 0 && !tooMany && outcomes === null,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  const planned = settled === pasted ? plan.data : undefined;
  const doable = (planned ?? []).filter(({ why }) => why === null).length;
  const act = async (reason: string): Promise<void> => {
    setOutcomes(await applyImport(planned ?? [], { kind, reason }));
    await client.invalidateQueries({ queryKey: ["stock"], exact: true });
  };
  return (
    <AntdLook>
      <Dialog
        title={t("import.title")}
        action={t("import.do", { skus: number(doable) })}
        needsReason
        isReady={doable > 0 && wrong.length === 0}
        width={760}
        act={act}
        onClose={onClose}
        outcome={outcomes === null ? null : <Outcomes outcomes={outcomes} />}
      >
        <Segmented
          options={importKinds.map((value) => ({ value, label: t(`change.${value}`) }))}
          value={kind}
          onChange={setKind}
          aria-label={t("stock.kind")}
        />
        <PastedLines pasted={pasted} onPaste={setPasted} />
        {wrong.map(({ line, text }) => (
          <span className="error" key={line}>
            {t("create.wrongLine", { line, text })}
          </span>
        ))}
        {tooMany ? (
          <span className="error">{t("import.tooMany", { lines: number(importLinesMax) })}</span>
        ) : null}
        {lines.length === 0 || tooMany ? null : (
          <Loaded asked={plan}>{(rows) => <Plan rows={rows} />}</Loaded>
        )}
      </Dialog>
    </AntdLook>
  );
}

type PastedProps = { readonly pasted: string; readonly onPaste: (text: string) => void };

function PastedLines({ pasted, onPaste }: PastedProps) {
  const { t } = useWords();
  return (
    <>
      <label>
        {t("import.lines")}
        <textarea
          className="field mono"
          name="lines"
          rows={6}
          value={pasted}
          placeholder={"phone 100\ncase 250"}
          onChange={({ target }) => onPaste(target.value)}
        />
      </label>
      <label>
        {t("import.file")}
        <input
          type="file"
          accept=".csv,.tsv,.txt,text/csv,text/plain"
          onChange={({ target }) => void target.files?.[0]?.text().then(onPaste)}
        />
      </label>
    </>
  );
}

function Plan({ rows }: { readonly rows: readonly PlannedLine[] }) {
  const { t, number, change } = useWords();
  return (
    <div className="plan" data-testid="import-plan">
      <table className="before-after">
        <thead>
          <tr>
            <th scope="col">{t("sku.sku")}</th>
            <th scope="col">{t("import.before")}</th>
            <th scope="col">{t("import.after")}</th>
            <th scope="col">{t("stock.difference")}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ sku, level, after, why }) => (
            <tr key={sku} className={why === null ? "moves" : ""}>
              <th scope="row" className="mono">
                {sku}
              </th>
              <td>{level === null ? "–" : number(level.total)}</td>
              <td>{after === null ? "–" : number(after)}</td>
              <td className={why === null || why === "same" ? "" : "bad-text"}>
                {why === null ? change((after ?? 0) - (level?.total ?? 0)) : t(`import.${why}`)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** What was refused stands first, with why. */
function Outcomes({ outcomes }: { readonly outcomes: readonly LineOutcome[] }) {
  const { t, number } = useWords();
  const refused = outcomes.filter(({ why }) => why !== null);
  const done = outcomes.length - refused.length;
  return (
    <div data-testid="outcomes" className="stack-tight" role="status">
      <div className="row">
        <span className="badge ok">{t("import.done", { skus: number(done) })}</span>
        {refused.length === 0 ? null : (
          <span className="badge bad">{t("import.refused", { skus: number(refused.length) })}</span>
        )}
      </div>
      <ul className="outcomes">
        {refused.map(({ sku, why }) => (
          <li key={sku}>
            <span className="mono">{sku}</span> {why}
          </li>
        ))}
      </ul>
    </div>
  );
}
