import { Modal } from "antd";
import { goKeys } from "../use-keys.ts";
import { useWords } from "../use-words.ts";

/** The keys, as they are. */
export function KeyHelp({ onClose }: { readonly onClose: () => void }) {
  const { t } = useWords();
  return (
    <Modal open title={t("keys.title")} footer={null} onCancel={onClose}>
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
    </Modal>
  );
}
