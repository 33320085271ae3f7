import type { Random } from "../clock.ts";
import { invariant } from "../domain/invariant.ts";
import type { Ledger } from "./ledger.ts";
import { bytes, text } from "./rows.ts";
import type { SchemaSession, SqlReader } from "./sql-database.ts";

type SecretName = Parameters<Ledger["secret"]>[0];

const secretNames = ["reservation-ids", "messages"] as const satisfies readonly SecretName[];
const secretLength = 32;

const secretNamesKnown = "select name from meta";
const insertSecret = "insert into meta (name, value) values (?, ?)";
const secretByName = "select value from meta where name = ?";

/** Made once, while nobody else migrates: whoever reads one later reads the same for ever. */
export async function makeSecrets(session: SchemaSession, random: Random): Promise<void> {
  const missing = await missingSecrets(session);
  if (missing.length === 0) return;
  await session.many(
    insertSecret,
    missing.map((name) => [name, random.bytes(secretLength)]),
  );
}

export async function secretsAreMade(reader: SqlReader): Promise<boolean> {
  return (await missingSecrets(reader)).length === 0;
}

async function missingSecrets(reader: SqlReader): Promise<readonly SecretName[]> {
  const rows = await reader.all(secretNamesKnown, []);
  const known = new Set(rows.map((row) => text(row, "name")));
  return secretNames.filter((name) => !known.has(name));
}

export async function secretOf(reader: SqlReader, name: SecretName): Promise<Buffer> {
  const [row] = await reader.all(secretByName, [name]);
  invariant(row !== undefined, `the ledger has no secret "${name}"`);
  const secret = bytes(row, "value");
  invariant(secret.length === secretLength, `secret "${name}": expected ${secretLength} bytes`);
  return secret;
}
