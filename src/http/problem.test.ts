import { describe, expect, it } from "vitest";
import { someLevel, someReservation } from "../../test/support/fake-engine.ts";
import { Fault, type FaultCode } from "../domain/fault.ts";
import { refused } from "../domain/outcome.ts";
import { rejections } from "../domain/rejection.ts";
import { problemCodes } from "./contract.ts";
import { languageOf, languages, messages } from "./language.ts";
import { isRetryable, problemBody, problemOfFault, statuses } from "./problem.ts";
import { problemsPage } from "./problems-page.ts";
import { problemOfRefusal } from "./refusal.ts";

const asked = { requestId: "r-1", language: "en" as const };

describe("a problem", () => {
  it.each([
    ["SOLD_OUT", 409],
    ["KEY_REUSED", 422],
    ["SALE_NOT_FOUND", 404],
    ["VERSION_MOVED", 412],
    ["STOCK_CLOSED", 503],
    ["BUSY", 503],
    ["INVALID", 400],
    ["TOO_MANY", 429],
  ] as const)("of code %s has status %d", (code, status) => {
    expect(problemBody({ code, detail: "" }, asked)).toMatchObject({ code, status });
  });

  it("is never an error of the server when it is a refusal of the business", () => {
    const faults = rejections.filter((code) => statuses[code] >= 500);
    expect(faults).toEqual(["STOCK_CLOSED", "BUSY"]);
  });

  it("has the members of RFC 9457 and ours", () => {
    expect(problemBody({ code: "SOLD_OUT", detail: "nothing left of sku-1" }, asked)).toEqual({
      type: "/docs/problems#SOLD_OUT",
      code: "SOLD_OUT",
      status: 409,
      title: "Sold out",
      detail: "nothing left of sku-1",
      instance: "r-1",
      retryable: false,
    });
  });

  it("never lets what it shows replace its own members", () => {
    const facts = { code: "OTHER", status: 200, detail: "", state: "expired" };
    const body = problemBody({ code: "WRONG_STATE", detail: "d", facts }, asked);
    expect(body).toMatchObject({ code: "WRONG_STATE", status: 409, detail: "d", state: "expired" });
  });

  it("has a title and an advice in every language, and there is none too many", () => {
    for (const language of languages) {
      const { titles, advice } = messages[language];
      expect(Object.keys(titles).sort()).toEqual([...problemCodes].sort());
      expect(Object.keys(advice).sort()).toEqual([...problemCodes].sort());
      expect(Object.values({ ...titles, ...advice }).every((text) => text.trim() !== "")).toBe(
        true,
      );
    }
  });

  it("speaks Chinese in Chinese and English in English", () => {
    const han = /\p{Script=Han}/u;
    expect(Object.values(messages["zh-CN"].titles).filter((text) => !han.test(text))).toEqual([]);
    expect(Object.values(messages.en.titles).filter((text) => han.test(text))).toEqual([]);
  });

  it("has a place on the page that its type points to", () => {
    const page = problemsPage();
    expect(problemCodes.filter((code) => !page.includes(`id="${code}"`))).toEqual([]);
  });
});

describe("a fault", () => {
  it.each<FaultCode>(["HOT_UNAVAILABLE", "LEDGER_UNKNOWN", "BUS_UNAVAILABLE", "OVERLOADED"])(
    "%s is answered busy, to be asked again",
    (code) => {
      const problem = problemOfFault(new Fault(code, "secret host 10.0.0.1 is away"));
      expect(problem).toMatchObject({ code: "BUSY", facts: { fault: code } });
      expect(isRetryable(problem)).toBe(true);
      expect(problem.detail).not.toContain("10.0.0.1");
    },
  );

  it("of unknown outcome is never told as a failure", () => {
    const { detail } = problemOfFault(new Fault("LEDGER_UNKNOWN", ""));
    expect(detail).toContain("outcome is not known");
  });
});

describe("a refusal", () => {
  it("shows the reservation, its state and the level in the contract's words", () => {
    const facts = { reservation: someReservation("expired"), level: someLevel() };
    expect(problemOfRefusal(refused("REFUND_DUE", "d", facts)).facts).toMatchObject({
      state: "expired",
      reservation: { reservationId: "0.abc.def", expiresAt: "2026-11-11T00:01:00.005Z" },
      level: { sku: "sku-1", available: 8, total: 10 },
    });
  });

  it("is retryable when the reservation is only not decided yet", () => {
    const pending = { reservation: someReservation("pending") };
    const ended = { reservation: someReservation("cancelled") };
    expect(isRetryable(problemOfRefusal(refused("WRONG_STATE", "", pending)))).toBe(true);
    expect(isRetryable(problemOfRefusal(refused("WRONG_STATE", "", ended)))).toBe(false);
  });

  it("shows nothing that it does not know", () => {
    const facts = { secret: { password: "x" }, list: [1], limit: 2 };
    expect(problemOfRefusal(refused("LIMIT_EXCEEDED", "", facts)).facts).toEqual({ limit: 2 });
  });
});

describe("the language of an answer", () => {
  it.each([
    [undefined, "en"],
    ["", "en"],
    ["zh-CN,zh;q=0.9,en;q=0.8", "zh-CN"],
    ["zh", "zh-CN"],
    ["ZH-tw", "zh-CN"],
    ["en-GB, zh;q=0.9", "en"],
    ["en;q=0.5, zh;q=0.9", "zh-CN"],
    ["fr, de", "en"],
    ["fr, zh;q=0.1", "zh-CN"],
    ["zh;q=0", "en"],
    ["zh;q=x", "en"],
    ["*", "en"],
    [",".repeat(5_000), "en"],
  ])("of Accept-Language %j is %s", (header, language) => {
    expect(languageOf(header)).toBe(language);
  });
});
