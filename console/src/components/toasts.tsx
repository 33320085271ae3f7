import { createContext, type ReactNode, useCallback, useContext, useState } from "react";

type Toast = { readonly id: number; readonly text: string; readonly tone: "ok" | "bad" };
type Say = (text: string, tone?: Toast["tone"]) => void;

const context = createContext<Say>(() => {});
const shownMs = 6_000;
let ids = 0;

/** What was done is said in a corner, to screen readers too, and goes by itself. */
export function Toasts({ children }: { readonly children: ReactNode }) {
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const say = useCallback<Say>((text, tone = "ok") => {
    const id = ids++;
    setToasts((now) => [...now.slice(-3), { id, text, tone }]);
    setTimeout(() => setToasts((now) => now.filter((toast) => toast.id !== id)), shownMs);
  }, []);
  return (
    <context.Provider value={say}>
      {children}
      <div className="toasts" role="status" aria-live="polite">
        {toasts.map(({ id, text, tone }) => (
          <div key={id} className={`toast ${tone}`}>
            {text}
          </div>
        ))}
      </div>
    </context.Provider>
  );
}

export function useSay(): Say {
  return useContext(context);
}
