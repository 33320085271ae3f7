import { apiPath } from "../api/call.ts";
import { useSession } from "../api/session.tsx";
import { CommandLine } from "./copyable.tsx";

type CommandsProps = {
  /** The same look from a shell: what follows `npx holdfast`. */
  readonly shell?: string;
  /** The call behind the page. */
  readonly path: string;
  /** More of them, as the server tells. */
  readonly more?: readonly string[];
};

/** What a page shows, as lines to copy: for a shell beside the server, and for any other place. */
export function Commands({ shell, path, more = [] }: CommandsProps) {
  const state = useSession();
  // This machine is served without a key; elsewhere it is read from the environment, not shown.
  const needsKey = state.kind === "signed-in" && state.session.via !== "local";
  const key = needsKey ? '-H "Authorization: Bearer $HOLDFAST_API_KEY" ' : "";
  const url = `${window.location.origin}${apiPath(path)}`;
  return (
    <div className="stack-tight">
      {shell === undefined ? null : <CommandLine text={`npx holdfast ${shell}`} />}
      <CommandLine text={`curl -s ${key}'${url}'`} />
      {more.map((text) => (
        <CommandLine key={text} text={text} />
      ))}
    </div>
  );
}
