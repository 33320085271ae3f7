import type { Epoch, Lane } from "../domain/values.ts";
import type { LaneState } from "./ledger.ts";
import { laneRowOf } from "./row-parsers.ts";
import { integer, textOrNull } from "./rows.ts";
import type { SqlDatabase, SqlReader, SqlSession } from "./sql-database.ts";

const allLanes = `
  select lanes.lane, epoch, met, incarnation, repairs,
    case when doubted_epoch = epoch then doubt end as doubt
  from lanes join lane_care care on care.lane = lanes.lane order by lanes.lane`;

const insertCare = `
  insert into lane_care (lane, repairs)
  select lane, 0 from lanes where lane not in (select lane from lane_care)`;

/** The first doubt about an epoch stands, and one about a past epoch has been answered. */
const noteDoubt = `
  update lane_care set doubted_epoch = ?, doubt = ?
  where lane = ? and (doubted_epoch is null or doubted_epoch < ?)`;

const addRepairs = "update lane_care set repairs = repairs + ? where lane = ?";

export async function lanesOf(reader: SqlReader): Promise<readonly LaneState[]> {
  return (await reader.all(allLanes, [])).map((row) => ({
    ...laneRowOf(row),
    doubt: textOrNull(row, "doubt"),
    repairs: integer(row, "repairs"),
  }));
}

/** After lanes were made. */
export async function careForNewLanes(session: SqlSession): Promise<void> {
  await session.run(insertCare, []);
}

export async function doubtLane(
  database: SqlDatabase,
  { lane, epoch }: { readonly lane: Lane; readonly epoch: Epoch },
  cause: string,
): Promise<void> {
  await database.transaction((session) => session.run(noteDoubt, [epoch, cause, lane, epoch]));
}

export async function countRepairs(
  database: SqlDatabase,
  lane: Lane,
  count: number,
): Promise<void> {
  await database.transaction((session) => session.run(addRepairs, [count, lane]));
}
