-- Who is signed in to the console, as in SQLite's migration of this number. Older processes do
-- not look here; they may run beside one that does, and know nobody who is signed in.

create table if not exists sessions (
  session_id varchar(64) not null,
  name varchar(64) not null,
  credential varchar(64) not null,
  opened_at_ms bigint not null,
  seen_at_ms bigint not null,
  primary key (session_id),
  index sessions_by_name (name)
) engine = innodb default character set utf8mb4 collate bytewise;

-- A subject is a hash of what is counted: a name, an address, or both.
create table if not exists sign_in_attempts (
  subject varchar(64) not null,
  failures bigint not null check (failures > 0),
  last_at_ms bigint not null,
  locked_until_ms bigint not null,
  primary key (subject),
  index sign_in_attempts_by_age (last_at_ms)
) engine = innodb default character set utf8mb4 collate bytewise;
