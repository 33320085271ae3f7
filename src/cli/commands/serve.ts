import { aborted } from "../aborted.ts";
import { type Command, exitCodes } from "../context.ts";
import { serveFleet } from "../fleet.ts";
import { fleetMember } from "../fleet-member.ts";
import { ledgerNameOf, runServer } from "../run-server.ts";

/** The server, until it is told to stop. */
export const serve: Command = async (context) => {
  const { text, loaded } = context;
  const { config } = loaded;
  const member = fleetMember();
  if (config.processes > 1 && member === null) return serveFleet(context, config);
  const stopping = context.stopping();
  const server = await runServer(context, { config, purpose: "serve", mayMove: false, member });
  const { url } = server;
  if (member !== null) member.ready(url);
  else context.announce({ url });
  if (!context.isJson && member === null) {
    context.say(text("serve.ready", { url, ledger: ledgerNameOf(config) }));
    context.say(text("serve.docs", { url }));
    const { eventsPlace: place } = server.holdfast;
    if (place !== null) context.say(text("events.place", { place }));
  }
  if (!stopping.aborted) await aborted(stopping);
  if (member === null) context.note(text("serve.stopping"));
  await server.stop();
  return exitCodes.done;
};
