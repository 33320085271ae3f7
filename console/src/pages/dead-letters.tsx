import { lazy, useState } from "react";
import { useNavigate, useParams } from "react-router";
import { query } from "../api/call.ts";
import { useMay } from "../api/session.tsx";
import { Button } from "../components/button.tsx";
import { Commands } from "../components/commands.tsx";
import { DeadLetterView } from "../components/dead-letter-view.tsx";
import { ExportButton } from "../components/export-button.tsx";
import { ChoiceFilter, TextFilter } from "../components/filter-fields.tsx";
import { GivenUp } from "../components/given-up.tsx";
import { LetterList, useLetters } from "../components/letter-list.tsx";
import { Page } from "../components/page.tsx";
import { Part } from "../components/part.tsx";
import type { LetterFilter, Verb } from "../live/settle-letters.ts";
import { useFilters } from "../use-filters.ts";
import { useWords } from "../use-words.ts";

const SettleLetters = lazy(async () => ({
  default: (await import("../components/settle-letters.tsx")).SettleLetters,
}));

const states = ["open", "replayed", "discarded"] as const;
/** What one call takes. */
const settledMax = 1_000;
const filterNames = ["reason", "itemId", "lane"] as const;

/** Messages that could not be decided. Looking never changes one. */
export function DeadLettersPage() {
  const { t } = useWords();
  const { id } = useParams();
  const go = useNavigate();
  const filters = useFilters();
  const { search } = filters;
  const { selected, select, clear } = useSelection();
  const [settling, setSettling] = useState<{ verb: Verb; all: boolean } | null>(null);
  const state = filters.of("state") || "open";
  const filter = filterIn(filters);
  const asked = useLetters(filter, state);
  const isAny = asked.data?.pages.some(({ items }) => items.length > 0) ?? false;
  const exported = { ...filter, state: state === "all" ? "" : state };
  return (
    <Page
      title={t("deadLetters.title")}
      actions={
        <ExportButton
          title={t("deadLetters.export")}
          path="/v1/dead-letters"
          name="dead-letters"
          filter={exported}
          words={{ all: t("deadLetters.exportAll"), filtered: t("export.filtered") }}
        />
      }
    >
      <GivenUp />
      <div className="filters">
        <LetterFilters filters={filters} state={state} />
      </div>
      <div className="row">
        <SettleButtons
          selected={selected.size}
          mayAll={state === "open" && isAny}
          onSettle={(verb, all) => setSettling({ verb, all })}
        />
      </div>
      {id === undefined ? null : (
        <DeadLetterView id={id} onClose={() => void go(`/dead-letters${search}`)} />
      )}
      <LetterList asked={asked} state={state} look={{ selected, select, search, open: id }} />
      <Commands shell="dead-letters list" path={`/v1/dead-letters${query(exported)}`} />
      <Part>
        {settling === null ? null : (
          <SettleLetters
            verb={settling.verb}
            chosen={settling.all ? filter : { ids: [...selected] }}
            onClose={() => {
              setSettling(null);
              clear();
            }}
          />
        )}
      </Part>
    </Page>
  );
}

function filterIn(filters: Filters): LetterFilter {
  return {
    reason: filters.of("reason"),
    itemId: filters.of("itemId"),
    lane: filters.of("lane").replace(/\D/g, ""),
  };
}

function useSelection() {
  const [selected, setSelected] = useState<ReadonlySet<number>>(new Set());
  const select = (letters: readonly number[], isOn: boolean): void =>
    setSelected((now) => {
      const rest = [...now].filter((id) => !letters.includes(id));
      return new Set(isOn ? [...rest, ...letters].slice(0, settledMax) : rest);
    });
  return { selected, select, clear: () => setSelected(new Set()) };
}

type Filters = ReturnType<typeof useFilters>;

function LetterFilters({ filters, state }: { readonly filters: Filters; readonly state: string }) {
  const { t } = useWords();
  return (
    <>
      <ChoiceFilter
        label={t("deadLetters.state")}
        value={state}
        choices={[
          ...states.map((name) => [name, t(`letterState.${name}`)] as const),
          ["all", t("filter.all")],
        ]}
        onChange={(value) => filters.set("state", value)}
      />
      {filterNames.map((name) => (
        <TextFilter key={name} filters={filters} name={name} label={t(`deadLetters.${name}`)} />
      ))}
    </>
  );
}

type SettleProps = {
  readonly selected: number;
  /** Something open matches the filter. */
  readonly mayAll: boolean;
  readonly onSettle: (verb: Verb, all: boolean) => void;
};

function SettleButtons({ selected, mayAll, onSettle }: SettleProps) {
  const { t, number } = useWords();
  const may = { replay: useMay("operator"), discard: useMay("admin") };
  const verbs = (["replay", "discard"] as const).filter((verb) => may[verb]);
  return (
    <>
      {verbs.map((verb) => (
        <Button
          key={verb}
          isDangerous={verb === "discard"}
          disabled={selected === 0}
          onClick={() => onSettle(verb, false)}
        >
          {t(`settle.${verb}Selected`, { letters: number(selected) })}
        </Button>
      ))}
      {verbs.map((verb) => (
        <Button
          key={verb}
          isDangerous={verb === "discard"}
          disabled={!mayAll}
          onClick={() => onSettle(verb, true)}
        >
          {t(`settle.${verb}All`)}
        </Button>
      ))}
    </>
  );
}
