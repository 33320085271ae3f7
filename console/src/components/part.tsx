import { Component, type ReactNode, Suspense } from "react";
import { useWords } from "../use-words.ts";
import { Failure } from "./failure.tsx";

type Props = { readonly children?: ReactNode; readonly fallback?: ReactNode };
type State = { readonly broken: { readonly error: unknown } | null };

/**
 * A part of a page whose code comes when it is needed. One that does not come (the server has
 * gone, or has a newer console) or breaks leaves the rest of the page, and its live numbers, alone.
 */
export class Part extends Component<Props, State> {
  override state: State = { broken: null };

  static getDerivedStateFromError(error: unknown): State {
    return { broken: { error } };
  }

  override render(): ReactNode {
    const { children, fallback = null } = this.props;
    const { broken } = this.state;
    if (broken !== null) return <BrokenPart error={broken.error} />;
    return <Suspense fallback={fallback}>{children}</Suspense>;
  }
}

function BrokenPart({ error }: { readonly error: unknown }) {
  const { t } = useWords();
  return (
    <div className="stack-tight" data-testid="broken-part">
      <strong>{t("broken.part")}</strong>
      <span>{t("broken.next")}</span>
      <Failure error={error} retry={() => window.location.reload()} />
    </div>
  );
}
