import { register } from "node:module";
import { bank, type PlantedBug } from "./bugs.ts";

/** The bug of that name. */
export function bugNamed(name: string): PlantedBug | null {
  return bank.find((bug) => bug.name === name) ?? null;
}

/**
 * Plants a bug into the compiled program before it is loaded. The sources carry no hook for it:
 * the loader changes the text of one file on its way in.
 */
export function plant(bug: PlantedBug): void {
  register("./plant-loader.js", import.meta.url, { data: bug });
}
