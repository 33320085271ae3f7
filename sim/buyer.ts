import type { Outcome } from "../src/domain/outcome.ts";
import type { Line } from "../src/domain/reservation.ts";
import { type BuyerId, type OperationId, operationId, type SaleId } from "../src/domain/values.ts";
import type { Engine, ReservationView } from "../src/engine/engine.ts";
import type { AnswerAudit, Asked } from "./audit-answers.ts";
import type { Front, Told } from "./client.ts";
import type { Stream } from "./random.ts";

export type Cart = {
  readonly saleId: SaleId;
  readonly buyerId: BuyerId;
  readonly key: OperationId;
  readonly lines: readonly Line[];
  /** The same key with these lines is another content. */
  readonly otherLines: readonly Line[];
};

const acting = { actor: "shop", reason: "simulated" };
const waits = [0, 0, 100, 400, 1_000] as const;

type Decided = ReservationView | "refused";

/** One buyer's story: reserve, perhaps pay or cancel or forget, ask again, be refunded. */
export class Buyer {
  readonly #front: Front;
  readonly #audit: AnswerAudit;
  readonly #stream: Stream;
  readonly #cart: Cart;
  readonly #holdMs: number;

  constructor(parts: {
    readonly front: Front;
    readonly audit: AnswerAudit;
    readonly stream: Stream;
    readonly cart: Cart;
    readonly holdMs: number;
  }) {
    this.#front = parts.front;
    this.#audit = parts.audit;
    this.#stream = parts.stream;
    this.#cart = parts.cart;
    this.#holdMs = parts.holdMs;
  }

  async live(): Promise<void> {
    const view = await this.#reserve();
    if (view === "refused") {
      if (this.#stream.chance(0.2)) await this.#askAgain();
      return;
    }
    if (view.state === "reserved") await this.#decideWhatToDo(view.id);
    if (this.#stream.chance(0.3)) await this.#front.sleep(3_000 * this.#stream.next());
    if (this.#stream.chance(0.4)) await this.#askAgain();
    if (this.#stream.chance(0.15)) await this.#askOtherwise();
  }

  /** Until there is a decision, or a refusal that took nothing. */
  async #reserve(): Promise<Decided> {
    let id: string | null = null;
    for (let turn = 0; ; turn += 1) {
      if (id !== null && turn < 3 && this.#stream.chance(0.1)) await this.#cancel(id, 1);
      if (id !== null && turn < 3 && this.#stream.chance(0.1)) await this.#askOtherwise();
      const told = await this.#lookOrAsk(id);
      if (told === "refused" && id === null) return told;
      if (told !== null && told !== "refused") {
        if (told.state !== "pending") return told;
        id = told.id;
      }
      await this.#pause();
    }
  }

  async #lookOrAsk(id: string | null): Promise<Decided | null> {
    if (id !== null && this.#stream.chance(0.7)) return this.#look(id);
    return this.#ask(this.#cart.lines);
  }

  async #ask(lines: readonly Line[]): Promise<Decided | null> {
    const { saleId, buyerId, key } = this.#cart;
    const asked = this.#audit.ask({ saleId, buyerId, key, lines });
    const waitMs = this.#stream.pick(waits);
    const request = { saleId, buyerId, idempotencyKey: key, lines };
    const told = await this.#tell(`reserve ${key}`, (engine) =>
      engine.buyers.reserve(request, { waitMs }),
    );
    return this.#judge(asked, told);
  }

  #judge(asked: Asked, told: Told<Outcome<ReservationView>>): Decided | null {
    if (!told.known) return null;
    const outcome = told.value;
    this.#audit.reserved(asked, outcome);
    if (outcome.ok) return outcome.value;
    const view = outcome.facts?.["reservation"];
    if (this.#audit.isView(view)) return view;
    return outcome.code === "STOCK_CLOSED" || outcome.code === "BUSY" ? null : "refused";
  }

  async #look(id: string): Promise<ReservationView | null> {
    const waitMs = this.#stream.pick(waits);
    const asked = this.#audit.look(id);
    const told = await this.#tell(`look ${this.#cart.key}`, (engine) =>
      engine.buyers.reservation(id, { waitMs }),
    );
    if (!told.known) return null;
    this.#audit.looked(asked, told.value);
    return told.value;
  }

  /** The same key and content: the same answer, for ever. */
  #askAgain(): Promise<void> {
    return this.#askAndFollow(this.#cart.lines);
  }

  #askOtherwise(): Promise<void> {
    return this.#askAndFollow(this.#cart.otherLines);
  }

  /** Whoever is told "pending" goes on asking: an id that was lost is voided for those who ask. */
  async #askAndFollow(lines: readonly Line[]): Promise<void> {
    for (let turn = 0; turn < 4; turn += 1) {
      let told = await this.#ask(lines);
      while (told !== null && told !== "refused" && told.state === "pending") {
        await this.#pause();
        told = (await this.#look(told.id)) ?? told;
      }
      if (told !== null) return;
      await this.#pause();
    }
  }

  async #decideWhatToDo(id: string): Promise<void> {
    const plan = this.#stream.weighted({
      pay: 40,
      payLate: 16,
      payTwice: 8,
      payOnTheEdge: 10,
      payLateTwice: 10,
      cancel: 10,
      extend: 8,
      forget: 8,
    });
    switch (plan) {
      case "pay":
        await this.#pause();
        await this.#pay(id, "p1");
        return this.#perhapsRefund(id);
      case "payLate":
        await this.#front.sleep(this.#holdMs + 2_000 * this.#stream.next());
        await this.#pay(id, "p1");
        if (this.#stream.chance(0.5)) await this.#pay(id, "p1");
        return this.#perhapsRefund(id);
      case "payLateTwice":
        await this.#front.sleep(this.#holdMs + 200);
        await Promise.all([
          this.#pay(id, "p1"),
          this.#pay(id, "p2"),
          this.#pause().then(() => this.#pay(id, "p1")),
          this.#pause().then(() => this.#pay(id, "p2")),
        ]);
        return;
      case "payTwice":
        await Promise.all([this.#pay(id, "p1"), this.#pay(id, "p1"), this.#pay(id, "p2")]);
        return this.#perhapsRefund(id);
      case "payOnTheEdge":
        await this.#front.sleep(this.#holdMs * (0.95 + 0.1 * this.#stream.next()));
        await Promise.all([this.#pay(id, "p1"), this.#pay(id, "p1")]);
        return this.#perhapsRefund(id);
      case "cancel":
        await this.#cancel(id, 6);
        if (this.#stream.chance(0.3)) await this.#pay(id, "p1");
        return;
      case "extend":
        await this.#extend(id);
        if (this.#stream.chance(0.6)) await this.#pay(id, "p1");
        return;
      default:
        return;
    }
  }

  async #pay(id: string, payment: string): Promise<void> {
    const paymentId = operationId(payment);
    for (;;) {
      const told = await this.#tell(`pay ${this.#cart.key} ${payment}`, (engine) =>
        engine.settlement.confirm(id, { paymentId, paidAt: null }, acting),
      );
      if (told.known && this.#audit.paid(id, payment, told.value)) return;
      await this.#pause();
    }
  }

  async #cancel(id: string, turns: number): Promise<void> {
    const waitMs = this.#stream.pick(waits);
    for (let turn = 0; turn < turns; turn += 1) {
      const told = await this.#tell(`cancel ${this.#cart.key}`, (engine) =>
        engine.settlement.cancel(id, { ...acting, waitMs }),
      );
      if (told.known && this.#audit.cancelled(id, told.value)) return;
      await this.#pause();
    }
  }

  async #extend(id: string): Promise<void> {
    const extension = { operationId: operationId("more"), seconds: 2 };
    for (let turn = 0; turn < 6; turn += 1) {
      const told = await this.#tell(`extend ${this.#cart.key}`, (engine) =>
        engine.settlement.extend(id, extension, acting),
      );
      if (told.known) return;
      await this.#pause();
    }
  }

  async #perhapsRefund(id: string): Promise<void> {
    if (!this.#stream.chance(0.4)) return;
    const [first] = this.#cart.lines;
    const whole = this.#stream.chance(0.5);
    const lines = whole || first === undefined ? null : [{ ...first }];
    const restock = this.#stream.chance(0.7);
    const again = this.#stream.chance(0.3);
    await this.#refund(id, { refundId: "r1", lines, restock });
    if (again) await this.#refund(id, { refundId: "r1", lines, restock });
    if (this.#stream.chance(0.2)) await this.#refund(id, { refundId: "r2", lines, restock: true });
  }

  async #refund(
    id: string,
    refund: { refundId: string; lines: readonly Line[] | null; restock: boolean },
  ): Promise<void> {
    const request = {
      ...refund,
      kind: "units" as const,
      refundId: operationId(refund.refundId),
    };
    for (;;) {
      const told = await this.#tell(`refund ${this.#cart.key} ${refund.refundId}`, (engine) =>
        engine.settlement.refund(id, request, acting),
      );
      if (told.known && this.#audit.refunded(id, refund.refundId, told.value)) return;
      await this.#pause();
    }
  }

  async #tell<T>(what: string, act: (engine: Engine) => Promise<T>): Promise<Told<T>> {
    this.#front.note(what);
    const told = await this.#front.ask(what, act);
    this.#front.note(`${what} ←`, () => this.#audit.inWords(told));
    return told;
  }

  #pause(): Promise<void> {
    return this.#front.sleep(40 + 600 * this.#stream.next() ** 2);
  }
}
