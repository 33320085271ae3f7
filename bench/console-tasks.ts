import type { Page } from "playwright-core";

/** One task of the page's main thread that took more than 50 ms. */
export type Task = { readonly at: number; readonly ms: number };

export type Tasks = {
  /** Ms after the navigation began: the first row of the table was painted. */
  readonly firstRowAt: number | null;
  readonly tasks: readonly Task[];
  readonly now: number;
  /** How often something changed in the document. */
  readonly changes: number;
  /** Rows of tables in the document. */
  readonly rows: number;
};

/** Runs in the page before anything of its own; a text, because it is none of this program's. */
const observer = `
  window.benchTasks = { firstRowAt: null, tasks: [], changes: 0 };
  const state = window.benchTasks;
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) {
      state.tasks.push({ at: startTime, ms: duration });
    }
  }).observe({ type: "longtask", buffered: true });
  let isSeen = false;
  new MutationObserver(() => {
    state.changes += 1;
    if (isSeen || document.querySelector("table.data tr[aria-rowindex]") === null) return;
    isSeen = true;
    // The task after the next frame: it has been painted.
    requestAnimationFrame(() => setTimeout(() => { state.firstRowAt = performance.now(); }));
  }).observe(document, { subtree: true, childList: true, characterData: true });
`;

export function observeTasks(page: Page): Promise<unknown> {
  return page.addInitScript(observer);
}

export function readTasks(page: Page): Promise<Tasks> {
  return page.evaluate<Tasks>(`({
    ...window.benchTasks,
    now: performance.now(),
    rows: document.querySelectorAll("table.data tr[aria-rowindex]").length,
  })`);
}
