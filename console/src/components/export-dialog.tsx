import { Segmented } from "antd";
import { useState } from "react";
import { apiPath, query } from "../api/call.ts";
import { useWords } from "../use-words.ts";
import { AntdLook } from "./antd-look.tsx";
import { Window } from "./window.tsx";

export type ExportProps = {
  readonly title: string;
  /** The list's address; the server streams all of it. */
  readonly path: string;
  /** The file's name without its format. */
  readonly name: string;
  /** What the page is filtered by; without any, there is nothing to choose. */
  readonly filter: Readonly<Record<string, string>>;
  readonly words: { readonly all: string; readonly filtered: string };
  readonly onClose: () => void;
};

const formats = [
  { value: "csv", label: "CSV" },
  { value: "ndjson", label: "NDJSON" },
] as const;

/** Which rows, in which form. */
export function ExportDialog({ title, path, name, filter, words, onClose }: ExportProps) {
  const { t } = useWords();
  const isFiltered = Object.values(filter).some((value) => value !== "");
  const [scope, setScope] = useState<"filtered" | "all">(isFiltered ? "filtered" : "all");
  const [format, setFormat] = useState<"csv" | "ndjson">("csv");
  const [bom, setBom] = useState(true);
  const chosen = scope === "all" ? {} : filter;
  const options = { ...chosen, format, bom: format === "csv" && bom ? "true" : "" };
  return (
    <Window title={title} onClose={onClose}>
      <AntdLook>
        <div className="form">
          {isFiltered ? (
            <Segmented
              value={scope}
              onChange={setScope}
              aria-label={t("export.scope")}
              options={[
                { value: "filtered", label: words.filtered },
                { value: "all", label: words.all },
              ]}
            />
          ) : (
            <p>{words.all}</p>
          )}
          <Segmented
            value={format}
            onChange={setFormat}
            aria-label={t("export.format")}
            options={[...formats]}
          />
          {format === "csv" ? <ForExcel bom={bom} onBom={setBom} /> : null}
          <div className="row ends">
            <a
              className="button primary"
              href={apiPath(`${path}${query(options)}`)}
              download={`${name}.${format}`}
            >
              {t("export.download")}
            </a>
          </div>
        </div>
      </AntdLook>
    </Window>
  );
}

type ExcelProps = { readonly bom: boolean; readonly onBom: (bom: boolean) => void };

function ForExcel({ bom, onBom }: ExcelProps) {
  const { t } = useWords();
  return (
    <>
      <label className="check">
        <input type="checkbox" checked={bom} onChange={({ target }) => onBom(target.checked)} />
        {t("export.bom")}
      </label>
      <p className="muted">{t("export.guard")}</p>
    </>
  );
}
