import { useCallback } from "react";
import { useLocation, useSearchParams } from "react-router";

/** Filters live in the address: a reload keeps them, and a link shares them. */
export function useFilters() {
  const [values, setValues] = useSearchParams();
  const { search } = useLocation();
  const set = useCallback(
    (name: string, value: string): void =>
      setValues(
        (now) => {
          const next = new URLSearchParams(now);
          if (value === "") next.delete(name);
          else next.set(name, value);
          return next;
        },
        { replace: true },
      ),
    [setValues],
  );
  return { of: (name: string): string => values.get(name) ?? "", set, search };
}

/** A local time of an input field as the API takes it; empty for none. */
export function instantOf(local: string): string {
  const ms = local === "" ? Number.NaN : new Date(local).getTime();
  return Number.isNaN(ms) ? "" : new Date(ms).toISOString();
}
