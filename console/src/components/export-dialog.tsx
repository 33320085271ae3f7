import { Segmented } from "antd";
import { useState } from "react";
import { apiPath, query } from "../api/call.ts";
import { instantOf, useFilters } from "../use-filters.ts";
import { useWords } from "../use-words.ts";
import { Window } from "./window.tsx";

type ExportProps = {
  readonly sku: string;
  readonly path: string;
  readonly onClose: () => void;
};

/** Which entries, in which form; the server streams them. */
export function ExportDialog({ sku, path, onClose }: ExportProps) {
  const { t } = useWords();
  const filters = useFilters();
  const [scope, setScope] = useState<"period" | "all">("all");
  const [format, setFormat] = useState<"csv" | "ndjson">("csv");
  const [bom, setBom] = useState(true);
  const period =
    scope === "all" ? {} : { from: instantOf(filters.of("from")), to: instantOf(filters.of("to")) };
  const options = { ...period, format, bom: format === "csv" && bom ? "true" : "" };
  return (
    <Window title={t("export.title", { sku })} onClose={onClose}>
      <div className="form">
        <Segmented
          value={scope}
          onChange={setScope}
          aria-label={t("export.scope")}
          options={[
            { value: "all", label: t("export.all") },
            { value: "period", label: t("export.period") },
          ]}
        />
        <Segmented
          value={format}
          onChange={setFormat}
          aria-label={t("export.format")}
          options={[
            { value: "csv", label: "CSV" },
            { value: "ndjson", label: "NDJSON" },
          ]}
        />
        {format === "csv" ? (
          <label className="check">
            <input
              type="checkbox"
              checked={bom}
              onChange={({ target }) => setBom(target.checked)}
            />
            {t("export.bom")}
          </label>
        ) : null}
        <p className="muted">{t("export.guard")}</p>
        <div>
          <a
            className="tool"
            href={apiPath(`${path}/entries${query(options)}`)}
            download={`${sku}.${format}`}
          >
            {t("export.download")}
          </a>
        </div>
      </div>
    </Window>
  );
}
