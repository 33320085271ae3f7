import { type Command, exitCodes, isOn } from "../context.ts";
import { table } from "../table.ts";

/** Every setting as it holds now; with `--origins` also who said so. */
export const configPrint: Command = async (context, options) => {
  const isRedacted = isOn(options, "redacted");
  const hasOrigins = isOn(options, "origins");
  const settings = context.loaded.origins.map(({ name, text, redacted, origin }) => ({
    name,
    value: isRedacted ? redacted : text,
    origin,
  }));
  const rows = settings.map(({ name, value, origin }) =>
    hasOrigins ? [name, value, context.paint.dim(origin)] : [name, value],
  );
  const align = hasOrigins ? (["left", "left", "left"] as const) : (["left", "left"] as const);
  for (const line of table(rows, align)) context.say(line);
  context.result(
    Object.fromEntries(
      settings.map(({ name, value, origin }) => [name, hasOrigins ? { value, origin } : value]),
    ),
  );
  return exitCodes.done;
};
