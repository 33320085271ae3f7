export type ConfigProblem =
  | "unknown-variable"
  | "unknown-key"
  | "file-missing"
  | "file-broken"
  | "both-forms"
  | "bad-value"
  | "not-in-this-build"
  | "processes-in-memory"
  | "roles-in-memory"
  | "ledger-in-memory"
  | "transactions-elsewhere"
  | "open-without-key"
  | "default-password"
  | "known-secret";

/** `usage`: it could not be read. Otherwise it was understood, and cannot keep the promises. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problem: ConfigProblem;
  readonly facts: Readonly<Record<string, string>>;

  constructor(problem: ConfigProblem, facts: Readonly<Record<string, string>>) {
    const told = Object.entries(facts).map(([key, value]) => `${key} ${value}`);
    super(`${problem.replaceAll("-", " ")}: ${told.join(", ")}`);
    this.problem = problem;
    this.facts = facts;
  }

  get isUsage(): boolean {
    return !refusals.has(this.problem);
  }
}

const refusals: ReadonlySet<ConfigProblem> = new Set<ConfigProblem>([
  "not-in-this-build",
  "processes-in-memory",
  "roles-in-memory",
  "ledger-in-memory",
  "transactions-elsewhere",
  "open-without-key",
  "default-password",
  "known-secret",
]);
