import { type Command, exitCodes } from "../context.ts";
import { ledgerNameOf, runServer } from "../run-server.ts";

/** The server, until it is told to stop. */
export const serve: Command = async (context) => {
  const { text, loaded } = context;
  const stopping = context.stopping();
  const { config } = loaded;
  const server = await runServer(context, { config, purpose: "serve", mayMove: false });
  const { url } = server;
  context.announce({ url });
  if (!context.isJson) {
    context.say(text("serve.ready", { url, ledger: ledgerNameOf(config) }));
    context.say(text("serve.docs", { url }));
  }
  if (!stopping.aborted) await aborted(stopping);
  context.note(text("serve.stopping"));
  await server.stop();
  return exitCodes.done;
};

export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    // An open handle: a signal alone keeps no process alive.
    const alive = setInterval(() => {}, 3_600_000);
    const done = (): void => {
      clearInterval(alive);
      resolve();
    };
    if (signal.aborted) done();
    else signal.addEventListener("abort", done, { once: true });
  });
}
