import { useRouteError } from "react-router";
import { useWords } from "../use-words.ts";
import { Failure } from "./failure.tsx";

/** A page that could not be shown, or whose code did not come (the server has a newer one). */
export function Broken() {
  const { t } = useWords();
  const error = useRouteError();
  return (
    <div className="stack broken">
      <h1>{t("broken.title")}</h1>
      <p>{t("broken.next")}</p>
      <Failure error={error} retry={() => window.location.reload()} />
    </div>
  );
}
