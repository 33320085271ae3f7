-- By which call, and in which trace, as in SQLite's migration of this number. Older processes do
-- not look here and may run beside one that does: what they write has no call. Neither server adds
-- a column twice, and only one of them can be told so: it is asked for first.

set @known = (
  select count(*) from information_schema.columns
  where table_schema = database() and table_name = 'orders' and column_name = 'request_id'
);
set @change = if(
  @known > 0,
  'do 0',
  'alter table orders add column request_id varchar(64), add column trace_id varchar(32)'
);
prepare change_orders from @change;
execute change_orders;
deallocate prepare change_orders;

-- What changed after a reservation, and what operators did.
create table if not exists requests (
  request_no bigint not null auto_increment,
  request_id varchar(64) not null,
  trace_id varchar(32),
  scope varchar(128) not null,
  operation varchar(64) not null,
  operation_id varchar(64) not null,
  at_ms bigint not null,
  primary key (request_no),
  key requests_by_scope (scope)
) engine = innodb default character set utf8mb4 collate bytewise;
