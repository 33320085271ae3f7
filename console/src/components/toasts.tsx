import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from "react";
import { useWords } from "../use-words.ts";

type Toast = {
  readonly id: number;
  readonly text: string;
  readonly tone: "ok" | "bad";
  readonly undo: Undo | null;
};
/** Takes back what was just done; says itself what came of it. */
export type Undo = () => Promise<string>;
type Say = (text: string, more?: Partial<Pick<Toast, "tone" | "undo">>) => void;

const context = createContext<Say>(() => {});
const shownMs = 6_000;
/** Whoever pressed the wrong button needs a moment to see it. */
const undoMs = 15_000;
let ids = 0;

/** What was done is said in a corner, to screen readers too, and goes by itself. */
export function Toasts({ children }: { readonly children: ReactNode }) {
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const drop = useCallback(
    (id: number) => setToasts((now) => now.filter((toast) => toast.id !== id)),
    [],
  );
  const say = useCallback<Say>(
    (text, { tone = "ok", undo = null } = {}) => {
      const id = ids++;
      setToasts((now) => [...now.slice(-3), { id, text, tone, undo }]);
      setTimeout(() => drop(id), undo === null ? shownMs : undoMs);
    },
    [drop],
  );
  const shown = useMemo(
    () => toasts.map((toast) => <OneToast key={toast.id} {...{ toast, say, drop }} />),
    [toasts, say, drop],
  );
  return (
    <context.Provider value={say}>
      {children}
      <div className="toasts" role="status" aria-live="polite">
        {shown}
      </div>
    </context.Provider>
  );
}

type OneProps = {
  readonly toast: Toast;
  readonly say: Say;
  readonly drop: (id: number) => void;
};

function OneToast({ toast: { id, text, tone, undo }, say, drop }: OneProps) {
  const { t } = useWords();
  const takeBack = async (act: Undo): Promise<void> => {
    drop(id);
    try {
      say(await act());
    } catch (error) {
      say(t("undo.failed", { why: error instanceof Error ? error.message : String(error) }), {
        tone: "bad",
      });
    }
  };
  return (
    <div className={`toast ${tone}`}>
      <span>{text}</span>
      {undo === null ? null : (
        <button type="button" className="tool" onClick={() => void takeBack(undo)}>
          {t("undo.do")}
        </button>
      )}
    </div>
  );
}

export function useSay(): Say {
  return useContext(context);
}
