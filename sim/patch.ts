import type { PlantedBug } from "./bugs.ts";

/** Replaces the bug's anchor, which must stand in the compiled text exactly once. */
export function patch(source: string, bug: PlantedBug): string {
  const found = matches(source, bug.find);
  if (found !== 1) {
    throw new Error(`bug ${bug.name}: its anchor stands ${found} times in ${bug.file}`);
  }
  return source.replace(expression(bug.find), () => bug.replace);
}

export function matches(source: string, find: string): number {
  return source.match(new RegExp(expression(find), "g"))?.length ?? 0;
}

/** White space counts as one space, so that a new layout does not move an anchor. */
function expression(find: string): RegExp {
  const words = find.trim().split(/\s+/).map(escaped);
  return new RegExp(words.join("\\s+"));
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
