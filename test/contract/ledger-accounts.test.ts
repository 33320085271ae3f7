import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ManualClock } from "../../src/clock.ts";
import type { AttemptLimit, Ledger } from "../../src/ledger/ledger.ts";
import { ledgerAdapters } from "../support/ledger-adapters.ts";

const ann = { id: "a".repeat(64), name: "ann", credential: "c".repeat(64) };
const limit: AttemptLimit = {
  subject: "s".repeat(64),
  failuresMax: 3,
  lockMs: 1_000,
  lockMsMax: 3_000,
  forgetMs: 60_000,
};

/** Who is signed in and who has tried, in every ledger. */
describe.each(ledgerAdapters)("accounts: $name", ({ open }) => {
  const clock = new ManualClock();
  let ledger: Ledger;
  beforeEach(async () => {
    ledger = await open(clock);
  });
  afterEach(() => ledger.close());

  it("keep the first administrator's hash, whoever comes first", async () => {
    const { accounts } = ledger;
    expect(await accounts.adminCredential()).toBeNull();
    const hashes = ["one", "two", "three"];
    const kept = await Promise.all(hashes.map((hash) => accounts.keepAdminCredential(hash)));
    expect(new Set(kept).size).toBe(1);
    expect(await accounts.adminCredential()).toBe(kept[0]);
    expect(await accounts.keepAdminCredential("later")).toBe(kept[0]);
  });

  it("tell a session with its times by the ledger's clock, until it is ended", async () => {
    const { accounts } = ledger;
    expect(await accounts.session(ann.id)).toBeNull();
    await accounts.openSession(ann, 60_000);
    const openedAt = clock.now();
    clock.advance(5_000);
    await accounts.sessionSeen(ann.id);
    clock.advance(1_000);
    expect(await accounts.session(ann.id)).toEqual({
      ...ann,
      openedAt,
      seenAt: openedAt + 5_000,
      readAt: openedAt + 6_000,
    });
    expect(await accounts.endSession(ann.id)).toBe(true);
    expect(await accounts.endSession(ann.id)).toBe(false);
    expect(await accounts.session(ann.id)).toBeNull();
  });

  it("end every session of one name at once, and sweep out what is too old", async () => {
    const { accounts } = ledger;
    for (const id of ["1", "2"]) await accounts.openSession({ ...ann, id }, 60_000);
    await accounts.openSession({ ...ann, id: "3", name: "bob" }, 60_000);
    expect(await accounts.endSessionsOf("ann")).toBe(2);
    expect(await accounts.session("3")).not.toBeNull();
    clock.advance(60_001);
    await accounts.openSession({ ...ann, id: "4" }, 60_000);
    expect(await accounts.session("3")).toBeNull();
    expect(await accounts.session("4")).not.toBeNull();
  });

  it("lock a subject after its failures, each time for longer, up to a bound", async () => {
    const { accounts } = ledger;
    const tries = async (): Promise<number | null> => accounts.countAttempt([limit]);
    expect([await tries(), await tries(), await tries()]).toEqual([null, null, null]);
    for (const lockMs of [1_000, 2_000, 3_000, 3_000]) {
      expect(await tries()).toBe(lockMs);
      clock.advance(lockMs - 1);
      expect(await tries()).toBe(1);
      clock.advance(1);
      expect(await tries()).toBeNull();
    }
  });

  it("count nothing while one of several subjects is locked", async () => {
    const { accounts } = ledger;
    const other = { ...limit, subject: "o".repeat(64), failuresMax: 2 };
    for (let n = 0; n < 3; n++) await accounts.countAttempt([limit]);
    for (let n = 0; n < 5; n++) expect(await accounts.countAttempt([limit, other])).toBe(1_000);
    expect(await accounts.countAttempt([other])).toBeNull();
    expect(await accounts.countAttempt([other])).toBeNull();
    expect(await accounts.countAttempt([other])).toBe(1_000);
  });

  it("let no more through when many try at the same time", async () => {
    const tries = Array.from({ length: 20 }, () => ledger.accounts.countAttempt([limit]));
    const answers = await Promise.all(tries);
    expect(answers.filter((lockedMs) => lockedMs === null)).toHaveLength(3);
  });

  it("forget failures after a success, or after a long time", async () => {
    const { accounts } = ledger;
    for (let n = 0; n < 2; n++) await accounts.countAttempt([limit]);
    await accounts.forgetAttempts([limit.subject]);
    for (let n = 0; n < 2; n++) expect(await accounts.countAttempt([limit])).toBeNull();
    clock.advance(60_001);
    for (let n = 0; n < 3; n++) expect(await accounts.countAttempt([limit])).toBeNull();
    expect(await accounts.countAttempt([limit])).toBe(1_000);
  });
});
