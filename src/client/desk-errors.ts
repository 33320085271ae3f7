import type { ProblemBody } from "../http/contract.ts";

/** The server understood and said no. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly problem: ProblemBody;

  constructor(problem: ProblemBody) {
    super(`${problem.code}: ${problem.detail}`);
    this.problem = problem;
  }
}

/** There is no answer, or none that this program understands. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
  readonly url: string;
  /** `away`: nobody listens. `unknown`: the call may have taken effect. `foreign`: not Holdfast. */
  readonly kind: "away" | "unknown" | "foreign";

  constructor(kind: NoAnswer["kind"], url: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.url = url;
  }
}
