import { useQuery } from "@tanstack/react-query";
import { Segmented, Slider } from "antd";
import { useDeferredValue, useState } from "react";
import type { LevelBody } from "../../../src/http/contract.ts";
import { call, query } from "../api/call.ts";
import { instantOf } from "../use-filters.ts";
import { useWords } from "../use-words.ts";
import { BeforeAfter } from "./before-after.tsx";
import { Failure } from "./failure.tsx";

/** The balances as the ledger had them, at a version or at a time, beside those of now. */
export function AsOf({ level, path }: { readonly level: LevelBody; readonly path: string }) {
  const { t, number } = useWords();
  const [by, setBy] = useState<"version" | "time">("version");
  const [version, setVersion] = useState(level.version);
  const [local, setLocal] = useState("");
  const asked = useDeferredValue(
    by === "version" ? { asOfVersion: String(version) } : { asOf: instantOf(local) },
  );
  const isAsked = by === "version" || instantOf(local) !== "";
  const then = useQuery({
    queryKey: ["level", level.sku, asked],
    queryFn: () => call<LevelBody>(`${path}${query(asked)}`),
    enabled: isAsked,
    placeholderData: (before) => before,
    staleTime: 60_000,
  });
  return (
    <section className="card stack-tight">
      <div className="row">
        <h2 style={{ flex: 1 }}>{t("asOf.title")}</h2>
        <Segmented
          value={by}
          onChange={setBy}
          options={[
            { value: "version", label: t("asOf.version") },
            { value: "time", label: t("asOf.time") },
          ]}
        />
      </div>
      {by === "version" ? (
        <div>
          <span className="mono">{t("asOf.atVersion", { version: number(version) })}</span>
          <Slider
            min={0}
            max={level.version}
            value={version}
            onChange={setVersion}
            ariaLabelForHandle={t("asOf.version")}
          />
        </div>
      ) : (
        <label>
          <span className="hidden">{t("asOf.time")}</span>
          <input
            className="tool"
            type="datetime-local"
            step="1"
            value={local}
            onChange={({ target }) => setLocal(target.value)}
          />
        </label>
      )}
      {then.error === null ? null : <Failure error={then.error} />}
      {then.data === undefined ? null : <BeforeAfter before={then.data} after={level} />}
    </section>
  );
}
