import { useQuery } from "@tanstack/react-query";
import { Segmented, Slider } from "antd";
import { useState } from "react";
import type { LevelBody } from "../../../src/http/contract.ts";
import { call, query } from "../api/call.ts";
import { useSettled } from "../live/use-settled.ts";
import { instantOf } from "../use-filters.ts";
import { useWords } from "../use-words.ts";
import { AntdLook } from "./antd-look.tsx";
import { BeforeAfter } from "./before-after.tsx";
import { Failure } from "./failure.tsx";

type AsOfProps = { readonly level: LevelBody; readonly path: string };

/** Longer than between two steps of a slider that is dragged. */
const quietMs = 150;

/** The balances as the ledger had them, at a version or at a time, beside those of now. */
export function AsOf({ level, path }: AsOfProps) {
  const { t } = useWords();
  const [by, setBy] = useState<"version" | "time">("version");
  const [version, setVersion] = useState(level.version);
  const [local, setLocal] = useState("");
  const wanted = by === "version" ? `v${version}` : instantOf(local);
  const place = useSettled(wanted, quietMs);
  const then = useQuery({
    queryKey: ["level", level.sku, "as of", place],
    queryFn: ({ signal }) => call<LevelBody>(`${path}${query(askedAt(place))}`, { signal }),
    enabled: place !== "",
    placeholderData: (before) => before,
    staleTime: 60_000,
  });
  return (
    <AntdLook>
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
          <VersionSlider newest={level.version} version={version} onVersion={setVersion} />
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
        {then.data === undefined ? null : (
          <BeforeAfter
            before={then.data}
            after={level}
            titles={{ before: t("asOf.then"), after: t("asOf.now") }}
          />
        )}
      </section>
    </AntdLook>
  );
}

function askedAt(place: string): Record<string, string> {
  return place.startsWith("v") ? { asOfVersion: place.slice(1) } : { asOf: place };
}

type SliderProps = {
  readonly newest: number;
  readonly version: number;
  readonly onVersion: (version: number) => void;
};

function VersionSlider({ newest, version, onVersion }: SliderProps) {
  const { t, number } = useWords();
  return (
    <div>
      <span className="mono">{t("asOf.atVersion", { version: number(version) })}</span>
      <Slider
        min={0}
        max={newest}
        value={version}
        onChange={onVersion}
        ariaLabelForHandle={t("asOf.version")}
      />
    </div>
  );
}
