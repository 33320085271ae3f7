import { type ReactNode, useEffect, useId, useRef } from "react";
import { useWords } from "../use-words.ts";

type WindowProps = {
  readonly title: string;
  readonly width?: number;
  readonly onClose: () => void;
  readonly children: ReactNode;
};

const typed = 'input:not([type="radio"]):not([type="checkbox"]), textarea';

/**
 * A window over the page: the browser's own, which keeps the focus inside, closes with Esc and
 * needs no style sheet of its own. The focus begins in the first field, never on what acts.
 */
export function Window({ title, width = 560, onClose, children }: WindowProps) {
  const { t } = useWords();
  const dialog = useRef<HTMLDialogElement>(null);
  const name = useId();
  useEffect(() => {
    const element = dialog.current;
    if (element === null) return;
    if (!element.open) element.showModal();
    const first = element.querySelector<HTMLElement>(typed);
    const safe = element.querySelector<HTMLElement>("[data-safe]");
    (first ?? safe ?? element).focus();
    return () => element.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className="window"
      style={{ width }}
      aria-labelledby={name}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div className="row">
        <h2 id={name} style={{ flex: 1 }}>
          {title}
        </h2>
        <button
          type="button"
          className="icon-button"
          aria-label={t("window.close")}
          onClick={onClose}
        >
          ✕
        </button>
      </div>
      {children}
    </dialog>
  );
}
