import {
  act,
  buyers,
  client,
  dryRun,
  events,
  hold,
  integer,
  level,
  listening,
  logging,
  number,
  type OptionSpec,
  only,
  paging,
  seed,
  stocked,
  stores,
  units,
  yes,
} from "./command-options.ts";
import type { Command } from "./context.ts";
import type { MessageKey } from "./text.ts";

/** Every command: its words, its options, and the module that is loaded only when it runs. */
export type CommandSpec = {
  /** `stock adjust <sku>`: groups, name, arguments. */
  readonly use: string;
  readonly summary: MessageKey;
  readonly group: MessageKey;
  readonly options: readonly OptionSpec[];
  /** Shown first by `--help`. */
  readonly examples: readonly string[];
  readonly load: () => Promise<Command>;
};

const tryIt = { group: "group.try" } as const;
const running = { group: "group.run" } as const;
const operating = { group: "group.operate" } as const;
const proving = { group: "group.prove" } as const;

const sale = () => import("./commands/sale.ts");
const stock = () => import("./commands/stock.ts");
const stockChange = () => import("./commands/stock-change.ts");
const deadLetters = () => import("./commands/dead-letters.ts");

const trials: readonly CommandSpec[] = [
  {
    ...tryIt,
    use: "dev",
    summary: "command.dev",
    options: [...listening, ...stores, events, stocked, buyers, hold, seed, logging],
    examples: ["holdfast dev", "holdfast dev --stock 50 --buyers 5000 --port 9000"],
    load: async () => (await import("./commands/dev.ts")).dev,
  },
  {
    ...tryIt,
    use: "demo",
    summary: "command.demo",
    options: [
      ...[stocked, buyers, hold, seed],
      { flags: "--bug <name>", says: "option.bug" },
      { flags: "--stack", says: "option.stack" },
      {
        flags: "--bus <kind>",
        says: "option.stackBus",
        kind: { type: "choice", values: ["rocketmq", "rabbitmq", "redis"] },
      },
      {
        flags: "--ledger <kind>",
        says: "option.stackLedger",
        kind: { type: "choice", values: ["mysql", "mariadb"] },
      },
      { flags: "--cluster", says: "option.stackCluster" },
      logging,
    ],
    examples: [
      "holdfast demo",
      "holdfast demo --stock 1000 --buyers 20000 --json",
      "holdfast demo --stack --bus redis --ledger mariadb",
    ],
    load: async () => (await import("./commands/demo.ts")).demo,
  },
  {
    ...tryIt,
    use: "loadtest",
    summary: "command.loadtest",
    options: [
      { flags: "--rate <n>", says: "option.rate", kind: number(0.1, 100_000) },
      { flags: "--seconds <n>", says: "option.seconds", kind: number(0.1, 86_400) },
      buyers,
      stocked,
      { flags: "--sale <id>", says: "option.sale" },
      hold,
      { flags: "--quantity-max <n>", says: "option.quantityMax", kind: integer(1, 1_000) },
      { flags: "--repeat-share <n>", says: "option.repeatShare", kind: number(0, 1) },
      { flags: "--pay-share <n>", says: "option.payShare", kind: number(0, 1) },
      { flags: "--cancel-share <n>", says: "option.cancelShare", kind: number(0, 1) },
      { flags: "--connections <n>", says: "option.connections", kind: integer(1, 4_096) },
      seed,
      { flags: "--allow-remote", says: "option.allowRemote" },
      ...client,
    ],
    examples: [
      "holdfast loadtest --url http://127.0.0.1:8787 --rate 500 --seconds 10",
      "holdfast loadtest --buyers 5000 --stock 100 --json",
    ],
    load: async () => (await import("./commands/loadtest.ts")).loadtest,
  },
];

const serving = [
  { flags: "--roles <list>", says: "option.roles" },
  { flags: "--processes <n>", says: "option.processes" },
  { flags: "--shutdown-delay-seconds <n>", says: "option.shutdownDelaySeconds" },
  { flags: "--trusted-proxies <n>", says: "option.trustedProxies" },
  { flags: "--rate-limit <n>", says: "option.rateLimit" },
  { flags: "--trace-url <url>", says: "option.traceUrl" },
] as const;
const servers: readonly CommandSpec[] = [
  {
    ...running,
    use: "serve",
    summary: "command.serve",
    options: [...listening, ...stores, events, ...serving, logging],
    examples: ["holdfast serve", "holdfast serve --port 9000 --ledger sqlite:/var/lib/holdfast.db"],
    load: async () => (await import("./commands/serve.ts")).serve,
  },
  {
    ...running,
    use: "migrate",
    summary: "command.migrate",
    options: [...stores, events, dryRun],
    examples: ["holdfast migrate --dry-run", "holdfast migrate"],
    load: async () => (await import("./commands/migrate.ts")).migrate,
  },
  {
    ...running,
    use: "doctor",
    summary: "command.doctor",
    options: [only, ...stores, events, ...client],
    examples: ["holdfast doctor", "holdfast doctor --only drift --only redis.ttl --json"],
    load: async () => (await import("./commands/doctor.ts")).doctor,
  },
  {
    ...running,
    use: "config print",
    summary: "command.config.print",
    options: [
      { flags: "--redacted", says: "option.redacted" },
      { flags: "--origins", says: "option.origins" },
      ...listening,
      ...stores,
      events,
      ...serving,
      logging,
      ...client,
    ],
    examples: ["holdfast config print --redacted --origins"],
    load: async () => (await import("./commands/config-print.ts")).configPrint,
  },
];

const shell: CommandSpec = {
  ...running,
  use: "completion <shell>",
  summary: "command.completion",
  options: [],
  examples: ["holdfast completion bash > ~/.local/share/bash-completion/completions/holdfast"],
  load: async () => (await import("./commands/completion.ts")).completion,
};

const sales: readonly CommandSpec[] = [
  {
    ...operating,
    use: "sale list",
    summary: "command.sale.list",
    options: [...paging, ...client],
    examples: ["holdfast sale list"],
    load: async () => (await sale()).saleList,
  },
  {
    ...operating,
    use: "sale show <sale>",
    summary: "command.sale.show",
    options: [...client],
    examples: ["holdfast sale show spring-1"],
    load: async () => (await sale()).saleShow,
  },
  {
    ...operating,
    use: "sale create <sale>",
    summary: "command.sale.create",
    options: [
      { flags: "--item <sku=stock>", says: "option.item", kind: { type: "list" } },
      hold,
      { flags: "--limit-per-buyer <n>", says: "option.limitPerBuyer", kind: units },
      { flags: "--title <text>", says: "option.title" },
      { flags: "--opens-at <time>", says: "option.opensAt" },
      { flags: "--closes-at <time>", says: "option.closesAt" },
      { flags: "--open", says: "option.open" },
      ...client,
    ],
    examples: ["holdfast sale create spring-1 --item phone=100 --hold-seconds 900 --open"],
    load: async () => (await sale()).saleCreate,
  },
  ...(["open", "pause", "close"] as const).map(
    (move): CommandSpec => ({
      ...operating,
      use: `sale ${move} <sale>`,
      summary: `command.sale.${move}`,
      options: [
        { flags: "--reason <text>", says: "option.reason" },
        { flags: "--operation-id <id>", says: "option.operationId" },
        ...(move === "close" ? [yes] : []),
        ...client,
      ],
      examples: [`holdfast sale ${move} spring-1`],
      load: async () => (await sale()).saleMoves[move],
    }),
  ),
];

const looks: readonly CommandSpec[] = [
  {
    ...operating,
    use: "stock list",
    summary: "command.stock.list",
    options: [...paging, ...client],
    examples: ["holdfast stock list"],
    load: async () => (await stock()).stockList,
  },
  {
    ...operating,
    use: "stock show <sku>",
    summary: "command.stock.show",
    options: [
      { flags: "--as-of-version <n>", says: "option.asOfVersion", kind: level },
      { flags: "--as-of <time>", says: "option.asOf" },
      ...client,
    ],
    examples: ["holdfast stock show phone", "holdfast stock show phone --as-of-version 12"],
    load: async () => (await stock()).stockShow,
  },
  {
    ...operating,
    use: "stock entries <sku>",
    summary: "command.stock.entries",
    options: [
      { flags: "--from <time>", says: "option.from" },
      { flags: "--to <time>", says: "option.to" },
      { flags: "--cursor <cursor>", says: "option.cursor" },
      {
        flags: "--format <format>",
        says: "option.format",
        kind: { type: "choice", values: ["csv", "ndjson"] },
      },
      ...paging,
      ...client,
    ],
    examples: [
      "holdfast stock entries phone --limit 20",
      "holdfast stock entries phone --format csv > phone.csv",
    ],
    load: async () => (await stock()).stockEntries,
  },
];

const changes: readonly CommandSpec[] = [
  ...(["restock", "withdraw", "freeze", "unfreeze"] as const).map(
    (kind): CommandSpec => ({
      ...operating,
      use: `stock ${kind} <sku> <quantity>`,
      summary: `command.stock.${kind}`,
      options: act,
      examples: [`holdfast stock ${kind} phone 10 --reason "delivery 4711"`],
      load: async () => (await stockChange()).stockMoves[kind],
    }),
  ),
  {
    ...operating,
    use: "stock adjust <sku>",
    summary: "command.stock.adjust",
    options: [
      { flags: "--delta <n>", says: "option.delta", kind: integer(-1_000_000_000, 1_000_000_000) },
      { flags: "--total <n>", says: "option.total", kind: level },
      { flags: "--if-version <n>", says: "option.ifVersion", kind: level },
      ...act,
    ],
    examples: [
      'holdfast stock adjust phone --delta -3 --reason "broken in the shop"',
      'holdfast stock adjust phone --total 120 --if-version 7 --reason "counted"',
    ],
    load: async () => (await stockChange()).stockAdjust,
  },
  {
    ...operating,
    use: "stock count <sku> <found>",
    summary: "command.stock.count",
    options: act,
    examples: ['holdfast stock count phone 9 --reason "cycle count"'],
    load: async () => (await stockChange()).stockCount,
  },
  ...(["stop", "resume"] as const).map(
    (kind): CommandSpec => ({
      ...operating,
      use: `stock ${kind} <sku>`,
      summary: `command.stock.${kind}`,
      options: act,
      examples: [`holdfast stock ${kind} phone --reason "price is wrong"`],
      load: async () => (await stockChange()).stockStatuses[kind],
    }),
  ),
];

const where: readonly OptionSpec[] = [
  { flags: "--all", says: "option.all" },
  { flags: "--where-reason <text>", says: "option.whereReason" },
  { flags: "--where-item <id>", says: "option.whereItem" },
  dryRun,
  { flags: "--reason <text>", says: "option.reason" },
  yes,
  ...client,
];

const letters: readonly CommandSpec[] = [
  {
    ...operating,
    use: "dead-letters list",
    summary: "command.deadLetters.list",
    options: [
      {
        flags: "--state <state>",
        says: "option.state",
        kind: { type: "choice", values: ["open", "replayed", "discarded"] },
      },
      { flags: "--where-reason <text>", says: "option.whereReason" },
      { flags: "--where-item <id>", says: "option.whereItem" },
      ...paging,
      ...client,
    ],
    examples: ["holdfast dead-letters list --state open"],
    load: async () => (await deadLetters()).deadLettersList,
  },
  ...(["replay", "discard"] as const).map(
    (kind): CommandSpec => ({
      ...operating,
      use: `dead-letters ${kind} [ids...]`,
      summary: `command.deadLetters.${kind}`,
      options: where,
      examples: [
        `holdfast dead-letters ${kind} 3 4 --reason "cause mended"`,
        `holdfast dead-letters ${kind} --all --dry-run`,
      ],
      load: async () => (await deadLetters()).deadLettersSettle[kind],
    }),
  ),
];

const proofs: readonly CommandSpec[] = [
  {
    ...proving,
    use: "reconcile",
    summary: "command.reconcile",
    options: [
      { flags: "--repair", says: "option.repair" },
      dryRun,
      { flags: "--sku <sku>", says: "option.sku" },
      { flags: "--reason <text>", says: "option.reason" },
      { flags: "--ledger <url>", says: "option.offline" },
      ...client,
    ],
    examples: ["holdfast reconcile", "holdfast reconcile --repair --dry-run --json"],
    load: async () => (await import("./commands/reconcile.ts")).reconcile,
  },
  {
    ...proving,
    use: "audit verify",
    summary: "command.audit.verify",
    options: [
      { flags: "--sku <sku>", says: "option.sku" },
      { flags: "--ledger <url>", says: "option.offline" },
      ...client,
    ],
    examples: ["holdfast audit verify", "holdfast audit verify --ledger sqlite:holdfast.db --json"],
    load: async () => (await import("./commands/audit-verify.ts")).auditVerify,
  },
];

export const commandTable: readonly CommandSpec[] = [
  ...trials,
  ...servers,
  shell,
  ...sales,
  ...looks,
  ...changes,
  ...letters,
  ...proofs,
];
