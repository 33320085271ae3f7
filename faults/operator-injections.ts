import { openDesk } from "../src/client/desk.ts";
import { Refusal } from "../src/client/desk-errors.ts";
import { SaleBody, StockChangedBody } from "../src/http/contract.ts";
import { sleep, struck, until } from "./injections.ts";
import { textsOf } from "./query.ts";
import type { Scene } from "./scene.ts";

const twoHoursSeconds = 7_200;
const units = 100;
const farTooMany = 1_000_000;
const reason = "a row of the fault matrix";

/** It is seen, nothing is taken from anybody, and a person sets it right. */
export async function jumpAndReturn({ clocks, serve }: Scene): Promise<void> {
  await clocks[0]?.turn(twoHoursSeconds);
  struck((await until(() => serve.hasSaid("clock jumped"))) ? 1 : 0);
  await clocks[0]?.turn(0);
  await serve.stop();
  await serve.start(null);
}

/** Past every rule but those of the table itself. */
export async function editByHand(scene: Scene): Promise<void> {
  const edit = "update inventory set available = available + 5, total = total + 5";
  await scene.sql((query) => query(`${edit} where sku_id like 'sale-%-0'`));
}

/** Units come and go on a SKU that sells; more than there is cannot go; a sale pauses. */
export async function editSale(scene: Scene): Promise<void> {
  const { serve, faultMs } = scene;
  const desk = openDesk({ url: serve.url, apiKey: null });
  const named = (like: string): Promise<readonly string[]> =>
    scene.sql((query) => textsOf(query, `select sale_id from sales where sale_id like '${like}'`));
  const [[trickle = ""], [sale = ""]] = [await named("trickle-%"), await named("sale-%")];
  const move = (sku: string, verb: string, quantity: number): Promise<unknown> => {
    const body = { operationId: `${verb}-${quantity}`, quantity, reason };
    return desk.post(`/v1/stock/${sku}/${verb}`, body, { schema: StockChangedBody });
  };
  try {
    await move(trickle, "restock", units);
    await move(trickle, "withdraw", units);
    const refused = await move(trickle, "withdraw", farTooMany).catch((error: unknown) => error);
    const isRefused = refused instanceof Refusal && refused.problem.code === "NOT_ENOUGH";
    if (!isRefused) throw new Error(`more than there is was withdrawn: ${String(refused)}`);
    await desk.post(`/v1/sales/${sale}/pause`, {}, { schema: SaleBody });
    await sleep(faultMs);
    await desk.post(`/v1/sales/${sale}/open`, {}, { schema: SaleBody });
  } finally {
    await desk.close();
  }
}
