import { Link } from "react-router";
import { Empty, Page } from "../components/page.tsx";
import { useWords } from "../use-words.ts";

export function NotFoundPage() {
  const { t } = useWords();
  return (
    <Page title={t("notFound.title")}>
      <Empty title={t("notFound.what")}>
        <Link to="/sales">{t("notFound.next")}</Link>
      </Empty>
    </Page>
  );
}
