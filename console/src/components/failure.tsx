import { ApiError, apiPath } from "../api/call.ts";
import { useWords } from "../use-words.ts";
import { Button } from "./button.tsx";
import { Copyable } from "./copyable.tsx";

/** What went wrong, in which call, and what to do: an answer of the server or none at all. */
export function Failure({
  error,
  retry,
}: {
  readonly error: unknown;
  readonly retry?: () => void;
}) {
  const { t } = useWords();
  const known = error instanceof ApiError ? error : null;
  const problem = known?.problem ?? null;
  const isForbidden = known?.status === 403;
  const title = problem?.title ?? t(known?.status === 0 ? "failure.away" : "failure.odd");
  const detail =
    problem?.detail ?? (known?.status === 0 ? t("failure.awayWhy") : String(known ?? error));
  return (
    <div className={`notice ${isForbidden ? "warn" : "bad"}`} role="alert">
      <span className="mark" aria-hidden="true">
        {isForbidden ? "!" : "✖"}
      </span>
      <div className="stack-tight">
        <strong>{isForbidden ? t("failure.forbidden") : title}</strong>
        <span>{detail}</span>
        {isForbidden ? <span className="muted">{t("failure.forbiddenWhy")}</span> : null}
        <Errors errors={problem?.errors ?? []} />
        <span className="row muted">
          {problem === null ? null : (
            <a href={apiPath(problem.type)} target="_blank" rel="noreferrer">
              {problem.code}
            </a>
          )}
          {known?.requestId ? (
            <span>
              {t("failure.request")} <Copyable value={known.requestId} />
            </span>
          ) : null}
        </span>
        {retry === undefined ? null : (
          <div>
            <Button onClick={retry}>{t("failure.retry")}</Button>
          </div>
        )}
      </div>
    </div>
  );
}

type FieldErrors = readonly { readonly pointer: string; readonly message: string }[];

function Errors({ errors }: { readonly errors: FieldErrors }) {
  if (errors.length === 0) return null;
  return (
    <ul>
      {errors.map(({ pointer, message }) => (
        <li key={`${pointer} ${message}`}>
          <span className="mono">{pointer}</span> {message}
        </li>
      ))}
    </ul>
  );
}
