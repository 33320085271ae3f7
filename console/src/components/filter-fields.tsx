import type { useFilters } from "../use-filters.ts";
import { useWords } from "../use-words.ts";

type Filters = ReturnType<typeof useFilters>;

export function TextFilter({
  filters,
  name,
  label,
}: {
  readonly filters: Filters;
  readonly name: string;
  readonly label: string;
}) {
  return (
    <label>
      {label}
      <input
        className="field"
        type="search"
        value={filters.of(name)}
        onChange={({ target }) => filters.set(name, target.value)}
      />
    </label>
  );
}

export function ChoiceFilter({
  label,
  value,
  choices,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly (readonly [value: string, label: string])[];
  readonly onChange: (value: string) => void;
}) {
  return (
    <label>
      {label}
      <select className="tool" value={value} onChange={({ target }) => onChange(target.value)}>
        {choices.map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** From and to, in the reader's own time zone. */
export function PeriodFilter({ filters }: { readonly filters: Filters }) {
  const { t } = useWords();
  return (["from", "to"] as const).map((name) => (
    <label key={name}>
      {t(`filter.${name}`)}
      <input
        className="tool"
        type="datetime-local"
        step="1"
        value={filters.of(name)}
        onChange={({ target }) => filters.set(name, target.value)}
      />
    </label>
  ));
}
