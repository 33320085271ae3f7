import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Navigate, useSearchParams } from "react-router";
import { ApiError } from "../api/call.ts";
import { sessionKey, signIn, useSession } from "../api/session.tsx";
import { Button } from "../components/button.tsx";
import { CommandLine } from "../components/copyable.tsx";
import { Failure } from "../components/failure.tsx";
import { Page } from "../components/page.tsx";
import { LanguageSwitch, ThemeSwitch } from "../components/switches.tsx";
import { useWords } from "../use-words.ts";

export function SignInPage() {
  const { t } = useWords();
  const state = useSession();
  const [asked] = useSearchParams();
  if (state.kind === "signed-in") return <Navigate to={placeOf(asked.get("next"))} replace />;
  return (
    <main>
      <div className="sign-in">
        <Page
          title={t("signIn.title")}
          actions={
            <>
              <LanguageSwitch />
              <ThemeSwitch />
            </>
          }
        >
          <SignInForm />
          <p className="muted">{t("signIn.first")}</p>
          <CommandLine text="npx holdfast serve --help" />
        </Page>
      </div>
    </main>
  );
}

function SignInForm() {
  const { t } = useWords();
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [isActing, setActing] = useState(false);
  const send = async (): Promise<void> => {
    setActing(true);
    setError(null);
    try {
      client.setQueryData(sessionKey, await signIn({ name: name.trim(), password }));
    } catch (thrown) {
      setError(thrown);
      setActing(false);
    }
  };
  return (
    <form
      className="form card"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <label>
        {t("signIn.name")}
        <input
          className="field"
          ref={focusOn}
          name="name"
          autoComplete="username"
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
      </label>
      <label>
        {t("signIn.password")}
        <input
          className="field"
          name="password"
          type="password"
          autoComplete="current-password"
          value={password}
          onChange={({ target }) => setPassword(target.value)}
        />
      </label>
      {error === null ? null : <Refused error={error} />}
      <Button isPrimary type="submit" isBusy={isActing} disabled={name === "" || password === ""}>
        {t("signIn.in")}
      </Button>
    </form>
  );
}

/** Once, when it appears: there is nothing else to do here. */
function focusOn(input: HTMLInputElement | null): void {
  input?.focus();
}

function Refused({ error }: { readonly error: unknown }) {
  const { t } = useWords();
  if (!(error instanceof ApiError) || error.status !== 401) return <Failure error={error} />;
  return (
    <div className="notice bad" role="alert">
      <span>{t("signIn.wrong")}</span>
    </div>
  );
}

/** Only to a page of ours: an address from outside must not be followed. */
function placeOf(next: string | null): string {
  return next !== null && /^\/(?![/\\])/.test(next) ? next : "/sales";
}
