import { problemCodes } from "./contract.ts";
import { languages, messages } from "./language.ts";
import { statuses } from "./problem.ts";

/** Where a problem's `type` points: each code with what to do, in both languages. */
export function problemsPage(): string {
  const rows = problemCodes.map((code) => {
    const cells = languages.map((language) => {
      const { titles, advice } = messages[language];
      return `<dd lang="${language}"><b>${escaped(titles[code])}</b> ${escaped(advice[code])}</dd>`;
    });
    return `<dt id="${code}"><code>${statuses[code]} ${code}</code></dt>\n${cells.join("\n")}`;
  });
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Holdfast: problems</title></head>
<body>
<h1>Problems</h1>
<p>Every refusal and fault of the API by its <code>code</code>. <a href="/docs/">API</a></p>
<dl>
${rows.join("\n")}
</dl>
</body>
</html>
`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
