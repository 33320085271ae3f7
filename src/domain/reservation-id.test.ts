import { describe, expect, it } from "vitest";
import { laneOfReservation, makeReservationId } from "./reservation-id.ts";
import { isId } from "./values.ts";

const secret = Buffer.from("a secret of thirty-two bytes....");
const name = { lane: 3, saleId: "night", buyerId: "ann", idempotencyKey: "k1" };
const id = makeReservationId(secret, name);

describe("a reservation id", () => {
  it("is the same for every retry, in any process that has the secret", () => {
    expect(makeReservationId(Buffer.from(secret), { ...name })).toBe(id);
    expect(id).toBe("3.OiKzYUv-VQqfDyl-MqiRCz.CZHyR4");
  });

  it("is an id, and carries its lane", () => {
    expect(isId(id)).toBe(true);
    expect(laneOfReservation(secret, id)).toBe(3);
    const last = makeReservationId(secret, { ...name, lane: 99_999 });
    expect(last).toHaveLength(35);
    expect(laneOfReservation(secret, last)).toBe(99_999);
  });

  it.each([
    ["sale", { saleId: "day" }],
    ["buyer", { buyerId: "bob" }],
    ["key", { idempotencyKey: "k2" }],
    ["lane", { lane: 4 }],
  ])("is another for another %s", (_, change) => {
    expect(makeReservationId(secret, { ...name, ...change })).not.toBe(id);
  });

  it("frames the three names: a letter that moves over a boundary makes another", () => {
    const shifted = { ...name, saleId: "nigh", buyerId: "tann" };
    expect(makeReservationId(secret, shifted).slice(2)).not.toBe(id.slice(2));
  });

  it("is genuine only if no character of it was altered", () => {
    const letters = "0123456789abcXYZ-_.~";
    for (let at = 0; at < id.length; at += 1) {
      for (const letter of letters) {
        const altered = id.slice(0, at) + letter + id.slice(at + 1);
        if (altered !== id)
          expect([altered, laneOfReservation(secret, altered)]).toEqual([altered, null]);
      }
    }
  });

  it("is not genuine when cut, lengthened, or moved to another lane", () => {
    const forged = [
      id.slice(0, -1),
      `${id}A`,
      `0${id}`,
      `13${id.slice(1)}`,
      id.replace("3.", "03."),
    ];
    for (const text of [...forged, "", ".", "3..", null, 3, [id]]) {
      expect([text, laneOfReservation(secret, text)]).toEqual([text, null]);
    }
  });

  it("is not genuine under another secret", () => {
    expect(laneOfReservation(Buffer.from("another"), id)).toBeNull();
    expect(makeReservationId(Buffer.from("another"), name)).not.toBe(id);
  });
});
