-- By which call, and in which trace. Older processes do not look here and may run beside one that
-- does: what they write has no call. Nothing here is in a hash or decides anything.

alter table orders add column request_id text;
alter table orders add column trace_id text;

-- What changed after a reservation, and what operators did. Read by what was changed, and, when a
-- person looks for a call, from the newest back.
create table requests (
  request_no integer primary key,
  request_id text not null,
  trace_id text,
  scope text not null,
  operation text not null,
  operation_id text not null,
  at_ms integer not null
) strict;

create index requests_by_scope on requests (scope);
