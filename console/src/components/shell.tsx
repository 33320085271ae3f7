import { useQueryClient } from "@tanstack/react-query";
import { lazy, useEffect, useRef, useState } from "react";
import { Link, NavLink, Outlet, useLocation, useNavigate, useNavigation } from "react-router";
import { sessionKey, signOut, useSession } from "../api/session.tsx";
import { timeZoneName } from "../format.ts";
import icon from "../icon.svg";
import { searchUrl } from "../urls.ts";
import { useKeys } from "../use-keys.ts";
import { useWords } from "../use-words.ts";
import { Part } from "./part.tsx";
import { LanguageSwitch, ThemeSwitch } from "./switches.tsx";

const KeyHelp = lazy(async () => ({ default: (await import("./key-help.tsx")).KeyHelp }));

const places = [
  ["/sales", "nav.sales"],
  ["/stock", "nav.stock"],
  ["/reconciliation", "nav.reconciliation"],
  ["/dead-letters", "nav.deadLetters"],
  ["/doctor", "nav.doctor"],
  ["/audit", "nav.audit"],
] as const;

/** What stands around every page: where one is, the one search box, who one is. */
export function Shell() {
  const { t } = useWords();
  const search = useRef<HTMLInputElement>(null);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const { pathname } = useLocation();
  const isMoving = useNavigation().state !== "idle";
  const main = useRef<HTMLElement>(null);
  useKeys({ search: () => search.current?.focus(), help: () => setHelpOpen(true) });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the top of each new page
  useEffect(() => {
    // In newer browsers it answers a promise, which is no way to end an effect: braces it needs.
    window.scrollTo(0, 0);
  }, [pathname]);
  return (
    <>
      <button type="button" className="skip" onClick={() => main.current?.focus()}>
        {t("nav.skip")}
      </button>
      <header className="bar-top">
        <Link className="brand" to="/sales">
          <img src={icon} alt="" /> Holdfast
        </Link>
        <Places />
        <SearchBox input={search} />
        <div className="tools">
          <LanguageSwitch />
          <ThemeSwitch />
          <button
            type="button"
            className="tool"
            aria-label={t("keys.title")}
            onClick={() => setHelpOpen(true)}
          >
            ?
          </button>
        </div>
        <Who />
      </header>
      <main id="main" ref={main} tabIndex={-1} aria-busy={isMoving}>
        <Outlet />
        <p className="muted" style={{ marginTop: 24 }}>
          {t("footer.zone", { zone: timeZoneName() })}
        </p>
      </main>
      {isHelpOpen ? (
        <Part>
          <KeyHelp onClose={() => setHelpOpen(false)} />
        </Part>
      ) : null}
    </>
  );
}

function Places() {
  const { t } = useWords();
  return (
    <nav className="nav" aria-label={t("nav.label")}>
      {places.map(([to, name]) => (
        <NavLink key={to} to={to}>
          {t(name)}
        </NavLink>
      ))}
    </nav>
  );
}

function SearchBox({ input }: { readonly input: React.RefObject<HTMLInputElement | null> }) {
  const { t } = useWords();
  const go = useNavigate();
  return (
    <search>
      <form
        className="search-box"
        onSubmit={(event) => {
          event.preventDefault();
          const q = input.current?.value.trim() ?? "";
          if (q !== "") void go(searchUrl(q));
        }}
      >
        <input
          ref={input}
          type="search"
          name="q"
          autoComplete="off"
          maxLength={200}
          aria-label={t("search.box")}
          placeholder={t("search.box")}
        />
        <kbd>/</kbd>
      </form>
    </search>
  );
}

function Who() {
  const { t } = useWords();
  const state = useSession();
  const client = useQueryClient();
  if (state.kind !== "signed-in") return null;
  const { name, role, via } = state.session;
  const leave = async (): Promise<void> => {
    await signOut();
    client.setQueryData(sessionKey, null);
    // What one was allowed to see is not for whoever comes next.
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionKey[0] });
  };
  return (
    <span className="who row">
      {name} · {t(`role.${role}`)}
      {via === "password" ? (
        <button type="button" className="tool" onClick={() => void leave()}>
          {t("signIn.out")}
        </button>
      ) : null}
    </span>
  );
}
