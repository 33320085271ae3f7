import { describe, expect, it } from "vitest";
import { changedSomething, commands, wordOf } from "../../test/support/commands.ts";
import { PureLedger } from "../../test/support/pure-ledger.ts";
import { takeTicket } from "../../test/support/tickets.ts";
import type { Command } from "./command.ts";
import { saleId } from "./values.ts";

/** A: 10 came in, 4 are frozen; the SKU is at version 2, the sale at revision 2. */
function stocked(): PureLedger {
  const ledger = new PureLedger();
  ledger.open({ stock: { A: 10 } });
  ledger.decideTicket(takeTicket("freeze", "z1", 4));
  return ledger;
}

type Tied = (seen: number) => Command;

const ofSku: readonly [string, Tied][] = [
  ["give", (seen) => commands.give("restock", "o1", 5, seen)],
  ["count", (seen) => ({ ...commands.count("o1", 3), ifVersion: seen }) as Command],
  ["stop", (seen) => ({ ...commands.skuTo("stopped", "o1"), ifVersion: seen }) as Command],
];
const ofSale: readonly [string, Tied][] = [
  ["pause", (seen) => ({ ...commands.saleTo("paused", "o1"), ifRevision: seen }) as Command],
  ["close", (seen) => ({ ...commands.saleTo("closed"), ifRevision: seen }) as Command],
];

describe("a command that is tied to what was seen", () => {
  it.each(ofSku)("%s is refused at any other version, and remembers nothing", (_, tied) => {
    const ledger = stocked();
    const { version } = ledger.row("A");
    for (const seen of [version - 1, version + 1]) {
      const result = ledger.tell(tied(seen));
      expect(wordOf(result)).toBe("VERSION_MOVED");
      expect(result).toMatchObject({ subject: { level: { version } } });
      expect(changedSomething(ledger)).toBe(false);
    }
    expect(wordOf(ledger.tell(tied(version)))).toBe("accepted");
    // Whatever has moved since: a decision under an id is the answer for ever.
    ledger.tell(commands.give("restock", "o2", 1));
    expect(wordOf(ledger.tell(tied(version)))).toBe("accepted again");
  });

  it.each(ofSale)("%s is refused at any other revision of the sale", (_, tied) => {
    const ledger = stocked();
    const revision = ledger.book.sales.get(saleId("s"))?.revision ?? 0;
    for (const seen of [revision - 1, revision + 1]) {
      const result = ledger.tell(tied(seen));
      expect(wordOf(result)).toBe("VERSION_MOVED");
      expect(result).toMatchObject({ subject: { sale: { revision, state: "open" } } });
      expect(changedSomething(ledger)).toBe(false);
    }
    expect(wordOf(ledger.tell(tied(revision)))).toBe("accepted");
  });
});
