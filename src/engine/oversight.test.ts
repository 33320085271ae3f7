import { describe, expect, it } from "vitest";
import { bent } from "../../test/support/bent-ports.ts";
import { Stage } from "../../test/support/stepped.ts";
import { Fault } from "../domain/fault.ts";
import { makeOversight } from "./oversight.ts";
import type { Parts } from "./parts.ts";

/** An engine of three lanes, whose bus has no queue for some of them. */
async function busPart(...gone: readonly number[]) {
  const { parts } = await (await Stage.open()).started();
  const lag = async (lane: number): Promise<number> => {
    if (gone.includes(lane)) throw new Fault("BUS_UNAVAILABLE", `no queue for lane ${lane}`);
    return 0;
  };
  const three: Parts = { ...parts, lanes: 3, bus: bent(parts.bus, { lag }) };
  const { ready, parts: found } = await makeOversight(three).health();
  const bus = found.find(({ name }) => name === "bus");
  return { ready, ok: bus?.ok, detail: bus?.detail };
}

describe("the health of the bus", () => {
  it("is good when every lane's queue answers", async () => {
    expect(await busPart()).toMatchObject({ ok: true, detail: "" });
  });

  it("names the lanes whose queues do not", async () => {
    const one = await busPart(2);
    expect(one).toEqual({ ready: false, ok: false, detail: "lanes 2: no queue for lane 2" });
    expect(await busPart(1, 2)).toMatchObject({ detail: "lanes 1 2: no queue for lane 1" });
  });

  it("is the broker's own word when none does", async () => {
    expect(await busPart(0, 1, 2)).toMatchObject({ ok: false, detail: "no queue for lane 0" });
  });
});
