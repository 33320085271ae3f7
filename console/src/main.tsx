import "./theme.css";
import { createRoot } from "react-dom/client";
import { askSession } from "./api/session.tsx";
import { App } from "./app.tsx";
import { startLanguage } from "./i18n.ts";
import { refuseMarkup } from "./page-facts.ts";
import { client } from "./query-client.ts";

refuseMarkup();
// Who is here is asked while the texts and the page's code are on their way.
void client.prefetchQuery(askSession);
await startLanguage();
const root = document.getElementById("root");
if (root !== null) createRoot(root).render(<App />);
