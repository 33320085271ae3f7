import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import { refusedSettings } from "../doctor/examine.ts";
import { inWords } from "../doctor/words.ts";
import { exitCodes } from "./context.ts";
import { CliError } from "./failure.ts";
import type { Text } from "./text.ts";

/**
 * Stops a server that would begin on stores whose settings lose what was promised. A store that
 * does not answer is no reason: it may come back, and hot stock stays closed until then.
 */
export async function refuseSettings(config: Config, clock: Clock, text: Text): Promise<void> {
  const refused = await refusedSettings(config, clock);
  const told = refused.map((finding) => inWords(finding, text.language));
  const [first] = told;
  if (first === undefined) return;
  const lines = told.map(({ id, found, cause }) =>
    text("refused-settings.line", { id, found, cause }),
  );
  throw new CliError({
    code: "SETTINGS_REFUSED",
    what: text("refused-settings.what", { ids: told.map(({ id }) => id).join(", ") }),
    why: lines.join("\n"),
    next: text("refused-settings.next", { fix: first.fix, look: first.look }),
    exitCode: exitCodes.failed,
  });
}
