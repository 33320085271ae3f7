import { lazy, useState } from "react";
import { useWords } from "../use-words.ts";
import { Button } from "./button.tsx";
import type { ExportProps } from "./export-dialog.tsx";
import { Part } from "./part.tsx";

const ExportDialog = lazy(async () => ({
  default: (await import("./export-dialog.tsx")).ExportDialog,
}));

/** Saves a list as a file, all of it or what the filters let pass. */
export function ExportButton(what: Omit<ExportProps, "onClose">) {
  const { t } = useWords();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>{t("export.open")}</Button>
      {isOpen ? (
        <Part>
          <ExportDialog {...what} onClose={() => setOpen(false)} />
        </Part>
      ) : null}
    </>
  );
}
