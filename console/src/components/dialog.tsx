import { type ReactNode, useState } from "react";
import { useWords } from "../use-words.ts";
import { Button } from "./button.tsx";
import { Copyable } from "./copyable.tsx";
import { Failure } from "./failure.tsx";
import { Window } from "./window.tsx";

type DialogProps = {
  readonly title: string;
  readonly action: string;
  readonly isDangerous?: boolean;
  /** What has to be typed before the act: the name of what it changes. */
  readonly typed?: string | undefined;
  readonly needsReason?: boolean;
  readonly isReady?: boolean;
  readonly width?: number;
  readonly act: (reason: string) => Promise<unknown>;
  readonly onClose: () => void;
  /** What came of it, until one closes the window; left out: done is done, and it closes. */
  readonly outcome?: ReactNode;
  /** Shown instead of the plain failure, where a refusal has more to say. */
  readonly refusal?: (error: unknown) => ReactNode;
  readonly children?: ReactNode;
};

/**
 * One act of an operator: what it changes, why, and the button that does it. Enter in a field
 * sends it; a dangerous one is never what the focus is on at first.
 */
export function Dialog(props: DialogProps) {
  const { title, width = 560, outcome = null, onClose } = props;
  return (
    <Window title={title} width={width} onClose={onClose}>
      {outcome === null ? (
        <Asking {...props} />
      ) : (
        <div className="form">
          {outcome}
          <CloseRow onClose={onClose} />
        </div>
      )}
    </Window>
  );
}

function Asking(props: DialogProps) {
  const { typed, needsReason, isReady = true, act, onClose, refusal } = props;
  const [reason, setReason] = useState("");
  const [confirmation, setConfirmation] = useState("");
  const [isActing, setActing] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const isTold = !needsReason || reason.trim() !== "";
  const isTyped = typed === undefined || confirmation.trim() === typed;
  const mayAct = isReady && isTold && isTyped && !isActing;
  const send = async (): Promise<void> => {
    if (!mayAct) return;
    setActing(true);
    setError(null);
    try {
      await act(reason.trim());
      if (props.outcome === undefined) onClose();
    } catch (thrown) {
      setError(thrown);
      setActing(false);
    }
  };
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {props.children}
      {needsReason ? <ReasonField value={reason} onChange={setReason} /> : null}
      {typed === undefined ? null : (
        <TypedField typed={typed} value={confirmation} onChange={setConfirmation} />
      )}
      {error === null ? null : (refusal?.(error) ?? <Failure error={error} />)}
      <ActRow {...props} mayAct={mayAct} isActing={isActing} />
    </form>
  );
}

type ActRowProps = DialogProps & { readonly mayAct: boolean; readonly isActing: boolean };

function ActRow({ action, isDangerous = false, onClose, mayAct, isActing }: ActRowProps) {
  const { t } = useWords();
  return (
    <div className="row ends">
      <Button data-safe onClick={onClose}>
        {t("act.cancel")}
      </Button>
      <Button
        isPrimary
        isDangerous={isDangerous}
        type="submit"
        disabled={!mayAct}
        isBusy={isActing}
      >
        {action}
      </Button>
    </div>
  );
}

function CloseRow({ onClose }: { readonly onClose: () => void }) {
  const { t } = useWords();
  return (
    <div className="row ends">
      <Button data-safe onClick={onClose}>
        {t("act.close")}
      </Button>
    </div>
  );
}

type FieldProps = { readonly value: string; readonly onChange: (value: string) => void };

function ReasonField({ value, onChange }: FieldProps) {
  const { t } = useWords();
  return (
    <label>
      {t("act.reason")}
      <input
        className="field"
        value={value}
        maxLength={200}
        onChange={({ target }) => onChange(target.value)}
        aria-required="true"
        name="reason"
      />
      <span className="hint">{t("act.reasonHint")}</span>
    </label>
  );
}

function TypedField({ typed, value, onChange }: FieldProps & { readonly typed: string }) {
  const { t } = useWords();
  return (
    <label>
      <span>
        {t("act.type")} <Copyable value={typed} />
      </span>
      <input
        className="field mono"
        value={value}
        autoComplete="off"
        spellCheck={false}
        onChange={({ target }) => onChange(target.value)}
        name="typed"
      />
    </label>
  );
}
