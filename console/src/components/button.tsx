import type { ButtonHTMLAttributes, ReactNode } from "react";

type ButtonProps = Omit<ButtonHTMLAttributes<HTMLButtonElement>, "className" | "children"> & {
  /** The one thing that this page or window is for. */
  readonly isPrimary?: boolean;
  readonly isDangerous?: boolean;
  /** What it began has not ended: it cannot be pressed, and says so. */
  readonly isBusy?: boolean;
  readonly children: ReactNode;
};

/** The browser's own: a page that only looks needs no component library. */
export function Button(props: ButtonProps) {
  const { isPrimary, isDangerous, isBusy = false, disabled = false, children, ...rest } = props;
  const look = `button${isPrimary ? " primary" : ""}${isDangerous ? " danger" : ""}`;
  return (
    <button type="button" {...rest} className={look} disabled={disabled || isBusy}>
      {isBusy ? <span className="spinner" aria-hidden="true" /> : null}
      {children}
    </button>
  );
}
