import { type Checks, failWhen, some, warnWhen } from "./check.ts";
import { judgeVersion, leastRabbitmq } from "./versions.ts";

/** A queue of ours that is there, and where its settings are others than ours. */
export type RabbitmqQueue = {
  readonly name: string;
  /** By the name of the setting, what it is; null where the user may not ask. */
  readonly differs: ReadonlyMap<string, string> | null;
};

/** A RabbitMQ, as far as one who may use it can see. */
export type RabbitmqFacts = {
  readonly version: string;
  /** Whether the user that the server comes with gets in, and whether from afar. */
  readonly guest: "out" | "in" | "in from afar";
  readonly queues: readonly RabbitmqQueue[];
  readonly missing: readonly string[];
  readonly lag: number;
  readonly deadLetters: number;
};

const lagMax = 10_000;
const deadLetterSettings = [
  ...["x-dead-letter-exchange", "x-dead-letter-routing-key", "x-dead-letter-strategy"],
  "x-overflow",
];

export const rabbitmqChecks: Checks<RabbitmqFacts> = {
  "rabbitmq.version": {
    look: "rabbitmqctl version",
    judge: ({ version }) => {
      const { state, least } = judgeVersion(version, leastRabbitmq);
      return { state, said: { version, least } };
    },
  },
  "rabbitmq.default-user": {
    look: "rabbitmqctl authenticate_user guest guest",
    judge: ({ guest }) => {
      const said = { guest };
      return guest === "in from afar" ? failWhen(true, said) : warnWhen(guest === "in", said);
    },
  },
  "rabbitmq.queues": {
    look: "rabbitmqctl list_queues name messages",
    judge: ({ queues, missing }) =>
      warnWhen(missing.length > 0, { queues: queues.length, missing: some(missing) }),
  },
  "rabbitmq.queue-type": {
    look: "rabbitmqctl list_queues name type",
    judge: ({ queues }) => {
      const bad = differing(queues, ["x-queue-type"]);
      return failWhen(bad.length > 0, { queues: some(bad) });
    },
  },
  "rabbitmq.single-consumer": {
    look: "rabbitmqctl list_queues name arguments",
    judge: ({ queues }) => {
      const bad = differing(queues, ["x-single-active-consumer"]);
      return failWhen(bad.length > 0, { queues: some(bad) });
    },
  },
  "rabbitmq.delivery-limit": {
    look: "rabbitmqctl list_queues name arguments",
    judge: ({ queues }) => {
      const bad = differing(queues, ["x-delivery-limit"]);
      return warnWhen(bad.length > 0, { queues: some(bad) });
    },
  },
  "rabbitmq.dead-letter-route": {
    look: "rabbitmqctl list_queues name arguments",
    judge: ({ queues }) => {
      const bad = differing(queues, deadLetterSettings);
      return failWhen(bad.length > 0, { queues: some(bad) });
    },
  },
  "rabbitmq.dead-letters": {
    look: "rabbitmqctl list_queues name messages",
    judge: ({ deadLetters }) => warnWhen(deadLetters > 0, { letters: deadLetters }),
  },
  "rabbitmq.lag": {
    look: "rabbitmqctl list_queues name messages_ready messages_unacknowledged",
    judge: ({ lag }) => warnWhen(lag > lagMax, { lag }),
  },
};

function differing(queues: readonly RabbitmqQueue[], settings: readonly string[]): string[] {
  return queues.flatMap(({ name, differs }) =>
    settings.flatMap((setting) => {
      const found = differs?.get(setting);
      return found === undefined ? [] : [`${name} ${setting} ${found}`];
    }),
  );
}
