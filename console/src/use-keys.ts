import { useEffect, useRef } from "react";
import { useNavigate } from "react-router";

/** After `g`: where to. */
export const goKeys = [
  ["s", "/sales", "nav.sales"],
  ["k", "/stock", "nav.stock"],
  ["r", "/reconciliation", "nav.reconciliation"],
  ["d", "/dead-letters", "nav.deadLetters"],
  ["h", "/doctor", "nav.doctor"],
  ["a", "/audit", "nav.audit"],
] as const;

const pauseMsMax = 1_500;

type Acts = { readonly search: () => void; readonly help: () => void };

/** Keys of the whole console; none of them while somebody types. */
export function useKeys(acts: Acts): void {
  const go = useNavigate();
  const now = useRef(acts);
  now.current = acts;
  useEffect(() => {
    let goAt = Number.NEGATIVE_INFINITY;
    const press = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const isAfterGo = event.timeStamp - goAt < pauseMsMax;
      goAt = event.key === "g" ? event.timeStamp : Number.NEGATIVE_INFINITY;
      const place = isAfterGo ? goKeys.find(([key]) => key === event.key)?.[1] : undefined;
      if (place !== undefined) void go(place);
      else if (event.key === "/") now.current.search();
      else if (event.key === "?") now.current.help();
      else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [go]);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
