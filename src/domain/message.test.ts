import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { reserveTicket, reviveTicket, takeTicket } from "../../test/support/tickets.ts";
import { type Envelope, MessageError, openEnvelope, parseItem, sealEnvelope } from "./message.ts";
import type { LaneItem } from "./ticket.ts";
import { epoch, reservationId } from "./values.ts";

const key = { kid: "k1", secret: Buffer.from("one") };
const other = { kid: "k2", secret: Buffer.from("two") };
const id = reservationId("r1");
const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const items: readonly LaneItem[] = [
  { kind: "ticket", ticket: reserveTicket("r1", { A: 2, B: 1 }), admittedAt: 5 },
  { kind: "ticket", ticket: reviveTicket("r1", "p1"), admittedAt: 6 },
  { kind: "ticket", ticket: takeTicket("freeze", "o1", 3, { ifVersion: 4 }), admittedAt: 7 },
  { kind: "void", id, ticket: null, reason: "lost" },
  { kind: "void", id: "take:A:o1", ticket: takeTicket("withdraw", "o1", 1), reason: "lost" },
  { kind: "cancel", id, actor: "op", reason: 'line\n"feed" \u2028 库存' },
  {
    kind: "ticket",
    ticket: { ...reserveTicket("r2"), origin: { requestId: "gateway-7", traceId } },
    admittedAt: 8,
  },
  { kind: "cancel", id, actor: "op", reason: "", origin: { requestId: "gw-8", traceId: null } },
  { kind: "marker", seq: 9 },
  { kind: "barrier", epoch: epoch(2) },
];
const envelope: Envelope = { lane: 3, epoch: epoch(2), sentAt: 1_000, items };
const sealed = sealEnvelope(envelope, [key]);

describe("an envelope", () => {
  it("comes out as it went in, every kind of item", () => {
    expect(openEnvelope(sealed, [key])).toEqual(envelope);
  });

  it("loses a call that is none, and nothing else: it is for people alone", () => {
    const ticket = reserveTicket("r1");
    for (const origin of [null, 7, "gateway", {}, { requestId: "a b" }, { traceId }]) {
      const item = { kind: "ticket", ticket: { ...ticket, origin }, admittedAt: 1 };
      expect(parseItem(item)).toEqual({ kind: "ticket", ticket, admittedAt: 1 });
    }
    const origin = { requestId: "gateway-7", traceId: "0".repeat(32) };
    const item = { kind: "ticket", ticket: { ...ticket, origin }, admittedAt: 1 };
    expect(parseItem(item)).toMatchObject({ ticket: { origin: { ...origin, traceId: null } } });
  });

  it("is refused when any bit of it is flipped", () => {
    for (let at = 0; at < sealed.length; at += 1) {
      for (const bit of [0x01, 0x20, 0x80]) {
        const bent = Buffer.from(sealed);
        bent[at] = (bent[at] ?? 0) ^ bit;
        expect(() => openEnvelope(bent, [key, other])).toThrow(MessageError);
      }
    }
  });

  it("is refused when cut anywhere, or when anything follows", () => {
    for (let end = 0; end < sealed.length; end += 1) {
      expect(() => openEnvelope(sealed.subarray(0, end), [key])).toThrow(MessageError);
    }
    const longer = Buffer.concat([sealed, Buffer.from(" ")]);
    expect(() => openEnvelope(longer, [key])).toThrow("signature");
  });

  it("is signed by the first key and read with any: keys are rotated under traffic", () => {
    expect(openEnvelope(sealEnvelope(envelope, [other, key]), [key, other])).toEqual(envelope);
    expect(() => openEnvelope(sealEnvelope(envelope, [other, key]), [key])).toThrow("k2");
    expect(openEnvelope(sealed, [other, key])).toEqual(envelope);
  });

  it("is refused under an unknown key, and under a known name with another secret", () => {
    expect(() => openEnvelope(sealed, [other])).toThrow("key k1, which is not known");
    expect(() => openEnvelope(sealed, [])).toThrow(MessageError);
    const renamed = { kid: "k1", secret: other.secret };
    expect(() => openEnvelope(sealed, [renamed])).toThrow("signature");
    expect(() => sealEnvelope(envelope, [])).toThrow(MessageError);
  });

  it("binds the key's name: the same secret under another name does not fit", () => {
    const alias = { kid: "kX", secret: key.secret };
    const moved = Buffer.from(sealed.toString("latin1").replace("k1", "kX"), "latin1");
    expect(() => openEnvelope(moved, [alias])).toThrow("signature");
  });

  it("never shares its signed bytes with one whose letters moved over a boundary", () => {
    const text = fc.string({ maxLength: 8, unit: "binary" });
    const cancel = (actor: string, reason: string): Envelope => ({
      ...envelope,
      items: [{ kind: "cancel", id, actor, reason }],
    });
    fc.assert(
      fc.property(text, text, fc.nat(8), (actor, reason, cut) => {
        const whole = actor + reason;
        const at = Math.min(cut, whole.length);
        const moved = cancel(whole.slice(0, at), whole.slice(at));
        const one = sealEnvelope(cancel(actor, reason), [key]);
        expect(one.equals(sealEnvelope(moved, [key]))).toBe(at === actor.length);
      }),
    );
  });

  it("says for any bytes that they are no message, and nothing worse", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (bytes, headed) => {
        const junk = Buffer.concat([Buffer.from(headed ? "holdfast1 k1 " : ""), bytes]);
        expect(() => openEnvelope(junk, [key])).toThrow(MessageError);
      }),
    );
  });
});

describe("the content of a signed message", () => {
  const sign = (body: unknown): Buffer => sealEnvelope(body as Envelope, [key]);

  it.each([
    ["another version", { ...envelope, version: 2 }],
    ["no items", { ...envelope, items: null }],
    ["a lane that is a text", { ...envelope, lane: "3" }],
    ["a negative epoch", { ...envelope, epoch: -1 }],
    ["a time with a fraction", { ...envelope, sentAt: 0.5 }],
  ])("is refused with %s", (_, body) => {
    expect(() => openEnvelope(sign(body), [key])).toThrow(MessageError);
  });

  const ticket = reserveTicket("r1", { A: 2, B: 1 });
  const [first, second] = ticket.lines;
  it.each([
    ["no line", { ...ticket, lines: [] }],
    ["the same SKU on two lines", { ...ticket, lines: [first, first] }],
    ["lines out of order", { ...ticket, lines: [second, first] }],
    ["a quantity of zero", { ...ticket, lines: [{ sku: "A", quantity: 0 }] }],
    ["a negative quantity", { ...ticket, lines: [{ sku: "A", quantity: -1 }] }],
    ["a SKU that is no id", { ...ticket, lines: [{ sku: "a b", quantity: 1 }] }],
    ["a buyer that is no id", { ...ticket, buyerId: "" }],
    ["an unknown kind", { ...ticket, kind: "steal" }],
    ["an operation that gives", { ...takeTicket("freeze", "o", 1), operation: "restock" }],
  ])("is refused with a ticket that has %s", (_, bad) => {
    const body = { ...envelope, items: [{ kind: "ticket", ticket: bad, admittedAt: 1 }] };
    expect(() => openEnvelope(sign(body), [key])).toThrow(MessageError);
  });

  it("is a message error or an item, whatever JSON it is", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(...items), (junk, item) => {
        const record = typeof junk === "object" && !Array.isArray(junk) ? { ...junk } : {};
        for (const value of [junk, { ...record, kind: item.kind }, { ...item, ...record }]) {
          try {
            openEnvelope(sign({ ...envelope, items: [value] }), [key]);
          } catch (error) {
            expect(error).toBeInstanceOf(MessageError);
          }
        }
      }),
    );
  });

  it("names what is not an item", () => {
    expect(() => parseItem({ kind: "theft" })).toThrow("unknown kind of item: theft");
    expect(() => parseItem([])).toThrow("an object was expected");
  });
});
