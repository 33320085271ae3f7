import "./theme.css";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { startLanguage } from "./i18n.ts";
import { refuseMarkup } from "./page-facts.ts";

refuseMarkup();
await startLanguage();
const root = document.getElementById("root");
if (root !== null) createRoot(root).render(<App />);
