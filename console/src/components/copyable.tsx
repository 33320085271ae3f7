import { useState } from "react";
import { Link } from "react-router";
import { useWords } from "../use-words.ts";

/** An id, whole and in one width, with a button that copies it. */
export function Copyable({
  value,
  to,
  shown,
}: {
  readonly value: string;
  readonly to?: string;
  readonly shown?: string;
}) {
  const text = shown ?? value;
  return (
    <span className="copy" title={value}>
      {to === undefined ? (
        <span className="mono">{text}</span>
      ) : (
        <Link className="mono" to={to}>
          {text}
        </Link>
      )}
      <CopyButton value={value} />
    </span>
  );
}

export function CopyButton({ value }: { readonly value: string }) {
  const { t } = useWords();
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await copyText(value);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={t(isCopied ? "copy.done" : "copy.what", { value })}
      onClick={() => void copy()}
    >
      {isCopied ? "✓" : <CopyMark />}
    </button>
  );
}

/** Drawn, because many fonts lack the sign. */
function CopyMark() {
  return (
    <svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true" fill="none">
      <rect x="3.5" y="3.5" width="7" height="7" rx="1.5" stroke="currentColor" />
      <path d="M8.5 1.5h-5a2 2 0 0 0-2 2v5" stroke="currentColor" />
    </svg>
  );
}

/** The clipboard is there on secure origins only; a console on plain HTTP copies by a selection. */
async function copyText(value: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(value);
  const field = document.createElement("textarea");
  field.value = value;
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}

/** A command line to copy. */
export function CommandLine({ text }: { readonly text: string }) {
  return (
    <div className="command">
      <code>{text}</code>
      <span className="copy">
        <CopyButton value={text} />
      </span>
    </div>
  );
}
