import type { ReactNode } from "react";
import { useWords } from "../use-words.ts";
import { Failure } from "./failure.tsx";

export type Asked<T> = {
  readonly data: T | undefined;
  readonly error: unknown;
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
  if (data === undefined) {
    if (error !== null) return <Failure error={error} retry={retry} />;
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
