type LineState = "none" | "reserved" | "rejected" | "sold" | "cancelled" | "expired";

export type OrderAccount = {
  readonly key: number;
  readonly id: string;
  readonly sale: string | null;
  readonly buyer: string | null;
  readonly limit: number | null;
  readonly lines: Map<string, LineAccount>;
};

export type LineAccount = {
  state: LineState;
  /** What the ticket asked for. */
  readonly asked: number;
  /** What is held or owned. */
  quantity: number;
  refunded: number;
  writtenOff: number;
  paidBy: string | null;
  /** The version that decided the order on this SKU. */
  decidedAt: number;
};

export function newLine(version: number, asked: number): LineAccount {
  return {
    state: "none",
    asked,
    quantity: 0,
    refunded: 0,
    writtenOff: 0,
    paidBy: null,
    decidedAt: version,
  };
}

/** The life of a line, as the promises tell it; a text when the step may not be. */
export function advanceLine(line: LineAccount, operation: string, quantity: number): string | null {
  const whole = quantity === line.quantity ? null : "not the whole line";
  switch (operation) {
    case "reserve":
      if (line.state !== "none") return "decided twice";
      line.quantity = quantity;
      line.state = "reserved";
      return null;
    case "reject":
      if (line.state === "none") line.state = "rejected";
      else if (line.state === "rejected") return "decided twice";
      return null;
    case "confirm":
      return step(line, "reserved", "sold") ?? whole;
    case "cancel":
      return step(line, "reserved", "cancelled") ?? whole;
    case "expire":
      return step(line, "reserved", "expired") ?? whole;
    case "revive":
      return step(line, "expired", "sold") ?? whole;
    case "refund":
    case "refund_lost":
      if (operation === "refund") line.refunded += quantity;
      else line.writtenOff += quantity;
      if (line.state !== "sold") return "nothing was sold";
      return line.refunded + line.writtenOff > line.quantity ? "more than was sold" : null;
    default:
      return "no operation of an order";
  }
}

function step(line: LineAccount, from: LineState, to: LineState): string | null {
  if (line.state !== from) return `not ${from}`;
  line.state = to;
  return null;
}
