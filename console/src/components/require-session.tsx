import { Navigate, Outlet, useLocation } from "react-router";
import { useSession } from "../api/session.tsx";
import { useWords } from "../use-words.ts";
import { Failure } from "./failure.tsx";

/** Whoever is not signed in is asked to, and comes back to where they wanted to go. */
export function RequireSession() {
  const state = useSession();
  const { pathname, search } = useLocation();
  const { t } = useWords();
  switch (state.kind) {
    case "signed-in":
      return <Outlet />;
    case "signed-out": {
      const next = `${pathname}${search}`;
      const to = next === "/" ? "/sign-in" : `/sign-in?next=${encodeURIComponent(next)}`;
      return <Navigate to={to} replace />;
    }
    case "away":
      return (
        <main>
          <Failure error={state.error} retry={state.retry} />
        </main>
      );
    case "loading":
      return (
        <main aria-busy="true">
          <p className="muted">{t("loading")}</p>
        </main>
      );
  }
}
