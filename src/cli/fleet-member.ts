import cluster from "node:cluster";
import type { Metrics } from "../http/metrics.ts";
import { answerOf, type FromMember, isToMember, type Rendered } from "./fleet-words.ts";

const renderedWithinMs = 5_000;

/** One process of a fleet, as it speaks with the one that keeps it. Null: there is none. */
export function fleetMember(): FleetMember | null {
  return cluster.isWorker ? new FleetMember() : null;
}

export class FleetMember {
  readonly #asked = new Map<number, (rendered: Rendered) => void>();
  #questions = 0;

  ready(url: string): void {
    tell({ kind: "ready", url });
  }

  /** Whoever scrapes one process is told of all. */
  share(metrics: Metrics): Metrics {
    process.on("message", (message: unknown) => {
      if (!isToMember(message)) return;
      if (message.kind === "rendered") {
        this.#asked.get(message.question)?.(message);
        return;
      }
      const { question, isAsked } = message;
      void metrics.families(isAsked).then((families) => {
        tell({ kind: "families", question, families });
      });
    });
    return { ...metrics, render: () => this.#renderAll(metrics) };
  }

  /** Its own, where the one that keeps it does not answer. */
  async #renderAll(metrics: Metrics): Promise<Rendered> {
    this.#questions += 1;
    const rendered = answerOf(this.#asked, this.#questions, renderedWithinMs);
    tell({ kind: "metrics", question: this.#questions });
    return (await rendered) ?? metrics.render();
  }
}

function tell(message: FromMember): void {
  if (process.connected) process.send?.(message, () => undefined);
}
