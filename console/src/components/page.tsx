import { type ReactNode, useEffect } from "react";

/** A page's frame: its name (also the window's), what belongs beside it, its content. */
export function Page({
  title,
  beside,
  actions,
  children,
}: {
  readonly title: string;
  readonly beside?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Holdfast`;
  }, [title]);
  return (
    <>
      <div className="page-head">
        <div className="row grow">
          <h1>{title}</h1>
          {beside}
        </div>
        <div className="row">{actions}</div>
      </div>
      <div className="stack">{children}</div>
    </>
  );
}

export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ReactNode;
}) {
  return (
    <div className="card empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function Figure({
  name,
  value,
  more,
  tone,
}: {
  readonly name: string;
  readonly value: ReactNode;
  readonly more?: ReactNode;
  readonly tone?: "ok" | "warn" | "bad" | undefined;
}) {
  return (
    <div className="figure">
      <dt>{name}</dt>
      <dd className={tone === undefined ? "" : `${tone}-text`}>
        {value} {more === undefined ? null : <small>{more}</small>}
      </dd>
    </div>
  );
}
