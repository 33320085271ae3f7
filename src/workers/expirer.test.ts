import { describe, expect, it } from "vitest";
import { type Process, Stage } from "../../test/support/stepped.ts";
import { InvariantError } from "../domain/invariant.ts";
import { Expirer } from "./expirer.ts";

async function held(keys: readonly string[]): Promise<{ process: Process; ids: string[] }> {
  const process = await (await Stage.open()).started({ stock: { A: 2_000 } });
  const ids = await Promise.all(keys.map(async (key) => (await process.reserved(key)).id));
  return { process, ids };
}

const states = ({ stage }: Process, ids: readonly string[]): Promise<string[]> =>
  Promise.all(
    ids.map(async (id) => (await stage.ledger.order(id as never))?.order.state ?? "unknown"),
  );

describe("the expirer", () => {
  it("writes down what the deadline has decided, and nothing before it", async () => {
    const { process, ids } = await held(["k1", "k2"]);
    process.stage.clock.advance(59_999);
    expect(await process.expirer.step()).toBe(0);
    expect(await states(process, ids)).toEqual(["reserved", "reserved"]);
    process.stage.clock.advance(1);
    expect(await process.expirer.step()).toBe(2);
    expect(await states(process, ids)).toEqual(["expired", "expired"]);
    expect(await process.levels()).toMatchObject({ hot: { available: 2_000 }, behind: 0 });
    expect(await process.expirer.step()).toBe(0);
    await process.expectCoherent();
  });

  it("is not stopped by a hold that cannot be: the others end, and it is said", async () => {
    const { process, ids } = await held(["k1", "k2", "k3"]);
    const [, bad] = ids;
    process.bends.ledger.commit = async (commands) => {
      if (commands.some((command) => "id" in command && command.id === bad)) {
        throw new InvariantError("a hold that cannot be");
      }
      return process.stage.ledger.commit(commands);
    };
    process.stage.clock.advance(60_000);
    for (let n = 0; n < 3; n += 1) await process.expirer.step();
    expect(await states(process, ids)).toEqual(["expired", "reserved", "expired"]);
    expect(process.happened.some((each) => each.startsWith(`alarm expiry hold ${bad}`))).toBe(true);
    delete process.bends.ledger.commit;
    await process.expirer.step();
    expect(await states(process, ids)).toEqual(["expired", "expired", "expired"]);
  });

  it("ends many holds of one moment, step by step: that is no jump", async () => {
    const { process } = await held([]);
    const keys = Array.from({ length: 700 }, (_, n) => `k${n}`);
    await process.drive(Promise.all(keys.map((key) => process.ask(key))));
    process.stage.clock.advance(60_000);
    expect(await process.expirer.step()).toBe(500);
    expect(await process.expirer.step()).toBe(200);
    expect((await process.levels()).balances).toMatchObject({ available: 2_000, reserved: 0 });
  });

  it.each([
    ["forwards", 3_600_000],
    ["back", -3_600_000],
  ])("stops when the ledger's clock jumps %s, until a restart", async (_, ms) => {
    const { process, ids } = await held(["k1"]);
    await process.expirer.step();
    process.stage.clock.jump(ms);
    for (let n = 0; n < 3; n += 1) expect(await process.expirer.step()).toBe(0);
    expect(await states(process, ids)).toEqual(["reserved"]);
    const alarms = process.happened.filter((each) => each.startsWith("alarm clock"));
    expect(alarms).toHaveLength(1);
    process.stage.clock.advance(60_000 + 3_600_000);
    expect(await process.expirer.step()).toBe(0);
    expect(await process.stage.leased(new Expirer(process.parts)).step()).toBe(1);
  });

  it("goes on after a long pause of its own: time passed, no clock jumped", async () => {
    const { process, ids } = await held(["k1"]);
    await process.expirer.step();
    process.stage.clock.advance(3_600_000);
    expect(await process.expirer.step()).toBe(1);
    expect(await states(process, ids)).toEqual(["expired"]);
  });
});
