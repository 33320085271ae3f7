-- Who is signed in to the console, and who has tried to. Older processes do not look here; they
-- may run beside one that does, and know nobody who is signed in.

create table sessions (
  session_id text primary key,
  name text not null,
  credential text not null,
  opened_at_ms integer not null,
  seen_at_ms integer not null
) strict, without rowid;

create index sessions_by_name on sessions (name);

-- A subject is a hash of what is counted: a name, an address, or both.
create table sign_in_attempts (
  subject text primary key,
  failures integer not null check (failures > 0),
  last_at_ms integer not null,
  locked_until_ms integer not null
) strict, without rowid;

create index sign_in_attempts_by_age on sign_in_attempts (last_at_ms);
