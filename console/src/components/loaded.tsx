import { type ReactNode, useEffect, useState } from "react";
import { useWords } from "../use-words.ts";
import { Failure } from "./failure.tsx";

export type Asked<T> = {
  readonly data: T | undefined;
  readonly error: unknown;
  /** Of the try in hand, while more will follow. */
  readonly failureReason?: unknown;
  readonly isFetching: boolean;
  readonly refetch: () => unknown;
};

/**
 * What was asked for, once it is there. A refresh that fails leaves what was known on the page and
 * says that it is old; a first one that fails says why.
 */
export function Loaded<T>({
  asked,
  children,
}: {
  readonly asked: Asked<T>;
  readonly children: (data: T) => ReactNode;
}) {
  const { t } = useWords();
  const { data, error, refetch } = asked;
  const retry = (): void => void refetch();
  const why = useLastFailure(asked);
  if (data === undefined) {
    if (why !== null) return <Failure error={why} retry={retry} />;
    return (
      <div className="card" aria-busy="true" role="status">
        <span className="hidden">{t("loading")}</span>
        <div className="skeleton" />
      </div>
    );
  }
  return (
    <>
      {error === null ? null : (
        <>
          <div className="notice warn" role="status">
            <span>{t("stale.page")}</span>
          </div>
          <Failure error={error} retry={retry} />
        </>
      )}
      {children(data)}
    </>
  );
}

/** Why nothing is there yet: kept while it is asked for again, so that it does not flicker. */
function useLastFailure<T>({ data, error, failureReason = null }: Asked<T>): unknown {
  const now = error ?? failureReason;
  const [last, setLast] = useState<unknown>(null);
  const isThere = data !== undefined;
  useEffect(() => {
    if (now !== null) setLast(now);
    else if (isThere) setLast(null);
  }, [now, isThere]);
  return now ?? last;
}
