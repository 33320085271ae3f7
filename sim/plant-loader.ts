import type { LoadHook } from "node:module";
import type { PlantedBug } from "./bugs.ts";
import { patch } from "./patch.ts";

let planted: PlantedBug | null = null;

/** Called by Node on the thread of the loader. */
export function initialize(bug: PlantedBug): void {
  planted = bug;
}

export const load: LoadHook = async (url, context, nextLoad) => {
  const loaded = await nextLoad(url, context);
  if (planted === null || !url.endsWith(`/${planted.file}`)) return loaded;
  const source = loaded.source === undefined ? "" : textOf(loaded.source);
  return { ...loaded, source: patch(source, planted) };
};

function textOf(source: string | ArrayBuffer | NodeJS.TypedArray): string {
  return typeof source === "string" ? source : new TextDecoder().decode(source);
}
