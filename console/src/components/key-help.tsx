import { goKeys } from "../use-keys.ts";
import { useWords } from "../use-words.ts";
import { Window } from "./window.tsx";

/** The keys, as they are. */
export function KeyHelp({ onClose }: { readonly onClose: () => void }) {
  const { t } = useWords();
  return (
    <Window title={t("keys.title")} onClose={onClose}>
      <dl className="facts">
        <dt>
          <kbd>/</kbd>
        </dt>
        <dd>{t("keys.search")}</dd>
        {goKeys.map(([key, , name]) => (
          <div key={key} style={{ display: "contents" }}>
            <dt>
              <kbd>g</kbd> <kbd>{key}</kbd>
            </dt>
            <dd>{t(name)}</dd>
          </div>
        ))}
        <dt>
          <kbd>?</kbd>
        </dt>
        <dd>{t("keys.help")}</dd>
        <dt>
          <kbd>Esc</kbd>
        </dt>
        <dd>{t("keys.close")}</dd>
      </dl>
    </Window>
  );
}
