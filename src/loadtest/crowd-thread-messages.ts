import type { CrowdProgress, CrowdResult } from "./crowd.ts";
import type { CrowdPlan } from "./plan.ts";

/** What the thread is started with, and what it says. Whatever it hears means "stop gently". */
export type ThreadOrder = { readonly plan: CrowdPlan };
export type ThreadMessage =
  | { readonly type: "progress"; readonly progress: CrowdProgress }
  | { readonly type: "done"; readonly result: CrowdResult };
