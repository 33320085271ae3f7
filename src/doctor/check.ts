/** `warn`: it works, and somebody should look. `fail`: a promise is broken, or can be. */
export type State = "ok" | "warn" | "fail";

/** What was found, as facts: the catalogues make sentences of them. */
export type Said = Readonly<Record<string, string | number>>;
export type Judged = { readonly state: State; readonly said: Said };

export type Check<Facts> = {
  /** What a person types to see it; `{at}` is how the client is told where. */
  readonly look: string;
  /** A server that is like this cannot keep the promises: `serve` does not start on it. */
  readonly isRefused?: true;
  /** From facts alone, so that every verdict can be shown without a server. */
  readonly judge: (facts: Facts) => Judged;
};

/** Under their ids, in the order in which they are told. */
export type Checks<Facts> = Readonly<Record<string, Check<Facts>>>;

export type Finding = Judged & {
  readonly id: string;
  readonly look: string;
  readonly isRefused: boolean;
};

export function judgeAll<Facts>(checks: Checks<Facts>, facts: Facts, at = ""): readonly Finding[] {
  return Object.entries(checks).map(([id, { look, isRefused = false, judge }]) => {
    return { id, look: look.replaceAll("{at}", at), isRefused, ...judge(facts) };
  });
}

export function failWhen(isBad: boolean, said: Said): Judged {
  return { state: isBad ? "fail" : "ok", said };
}

export function warnWhen(isBad: boolean, said: Said): Judged {
  return { state: isBad ? "warn" : "ok", said };
}

const named = 3;

/** The first few of a list, and how many there are besides. */
export function some(list: readonly string[], none = "-"): string {
  if (list.length === 0) return none;
  const more = list.length > named ? ` … (${list.length})` : "";
  return list.slice(0, named).join(", ") + more;
}

const gravity: readonly State[] = ["fail", "warn", "ok"];

/** Each id once: two servers that play the same part are as well as the one that is worse. */
export function worstOfEach(findings: readonly Finding[]): readonly Finding[] {
  const worst = new Map<string, Finding>();
  for (const finding of findings) {
    const known = worst.get(finding.id);
    const isWorse =
      known === undefined || gravity.indexOf(finding.state) < gravity.indexOf(known.state);
    if (isWorse) worst.set(finding.id, finding);
  }
  return [...worst.values()];
}
