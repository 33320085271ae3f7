import type { Finding, State } from "../../src/doctor/check.ts";
import { inWords } from "../../src/doctor/words.ts";

/** What is not well, by id: a broken thing is named by its own check and by no other. */
export function notOk(findings: readonly Finding[]): Record<string, State> {
  const bad = findings.filter(({ state }) => state !== "ok");
  // What nobody expected says here what was found.
  return Object.fromEntries(bad.map((finding) => [finding.id, finding.state]));
}

export function foundAt(findings: readonly Finding[], id: string): string {
  const finding = findings.find((each) => each.id === id);
  return finding === undefined ? "" : inWords(finding, "en").found;
}
