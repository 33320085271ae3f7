import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import { call } from "../api/call.ts";
import { useMay, useSession } from "../api/session.tsx";
import { saleUrl } from "../urls.ts";
import { useWords } from "../use-words.ts";
import { Button } from "./button.tsx";
import { useSay } from "./toasts.tsx";

/** In `dev`: a sale and a crowd, from the page. The server says whether it has one to offer. */
export function DemoButton() {
  const { t } = useWords();
  const state = useSession();
  const say = useSay();
  const go = useNavigate();
  const isOffered = state.kind === "signed-in" && state.session.demo === true;
  const mayStart = useMay("operator");
  const start = useMutation({
    mutationFn: () => call<{ saleId: string }>("/v1/demo/rush", { method: "POST", body: {} }),
    onSuccess: ({ saleId }) => go(saleUrl(saleId)),
    onError: (error) => say(error.message, { tone: "bad" }),
  });
  if (!isOffered || !mayStart) return null;
  return (
    <Button isBusy={start.isPending} onClick={() => start.mutate()}>
      {t("demo.start")}
    </Button>
  );
}
