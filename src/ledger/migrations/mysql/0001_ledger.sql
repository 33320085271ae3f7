-- The ledger, the only truth, as in SQLite's first migration. The first schema, so no older worker
-- runs beside it. MySQL commits each definition by itself: every statement may run again.
--
-- `bytewise` stands for the server's collation that compares byte by byte and does not ignore
-- trailing spaces: utf8mb4_0900_bin on MySQL, utf8mb4_nopad_bin on MariaDB.

create table if not exists meta (
  name varchar(64) not null,
  value varbinary(1024) not null,
  primary key (name)
) engine = innodb default character set utf8mb4 collate bytewise;

create table if not exists lanes (
  lane bigint not null,
  epoch bigint not null check (epoch >= 0),
  met bigint not null check (met >= 0),
  incarnation text,
  primary key (lane)
) engine = innodb default character set utf8mb4 collate bytewise;

create table if not exists sales (
  sale bigint not null auto_increment,
  sale_id varchar(64) not null,
  lane bigint not null,
  title text not null,
  fingerprint mediumtext not null,
  state varchar(16) not null check (state in ('draft', 'open', 'paused', 'closed')),
  revision bigint not null,
  opens_at_ms bigint,
  closes_at_ms bigint,
  hold_ms bigint not null check (hold_ms > 0),
  limit_per_buyer bigint check (limit_per_buyer > 0),
  created_at_ms bigint not null,
  closed_at_ms bigint,
  primary key (sale),
  unique key sales_by_id (sale_id),
  key sales_by_state (state),
  constraint sales_lane foreign key (lane) references lanes (lane)
) engine = innodb default character set utf8mb4 collate bytewise;

-- The balances after the last entry of each SKU.
create table if not exists inventory (
  sku bigint not null auto_increment,
  sku_id varchar(64) not null,
  lane bigint not null,
  sale bigint,
  status varchar(16) not null check (status in ('normal', 'stopped')),
  status_reason text,
  status_revision bigint not null,
  total bigint not null check (total between 0 and 9007199254740991),
  available bigint not null check (available >= 0),
  reserved bigint not null check (reserved >= 0),
  sold bigint not null check (sold >= 0),
  frozen bigint not null check (frozen >= 0),
  lost bigint not null check (lost >= 0),
  version bigint not null check (version >= 0),
  hash varchar(64) not null check (length(hash) = 64),
  -- Entries up to this version have been told to the world, in order.
  published_version bigint not null default 0,
  primary key (sku),
  unique key inventory_by_id (sku_id),
  key inventory_by_lane (lane),
  key inventory_by_sale (sale),
  constraint inventory_lane foreign key (lane) references lanes (lane),
  constraint inventory_sale foreign key (sale) references sales (sale),
  constraint inventory_sum check (available + reserved + sold + frozen + lost = total),
  constraint inventory_published check (published_version between 0 and version)
) engine = innodb default character set utf8mb4 collate bytewise;

create table if not exists sale_items (
  sale bigint not null,
  sku bigint not null,
  stocked bigint not null check (stocked >= 0),
  primary key (sale, sku),
  constraint sale_items_sale foreign key (sale) references sales (sale),
  constraint sale_items_sku foreign key (sku) references inventory (sku)
) engine = innodb default character set utf8mb4 collate bytewise;

-- `orders_by_buyer` also leads to the few orders without a sale, which have no buyer either;
-- `orders_due` to the live holds, in order of their deadline.
create table if not exists orders (
  order_no bigint not null auto_increment,
  order_id varchar(64) not null,
  sale bigint,
  buyer_id varchar(64),
  idempotency_key varchar(64),
  state varchar(16) not null check (
    state in ('reserved', 'rejected', 'confirmed', 'cancelled', 'expired', 'void', 'refunded')
  ),
  code varchar(64),
  reason text,
  fingerprint mediumtext,
  admitted_at_ms bigint,
  sent_at_ms bigint,
  attempt bigint not null,
  decided_at_ms bigint not null,
  expires_at_ms bigint,
  ended_at_ms bigint,
  payment_id varchar(64),
  revived bigint not null check (revived in (0, 1)),
  primary key (order_no),
  unique key orders_by_id (order_id),
  key orders_by_buyer (sale, buyer_id),
  key orders_due (state, expires_at_ms, order_no, sale),
  constraint orders_sale foreign key (sale) references sales (sale),
  constraint orders_deadline check (state <> 'reserved' or expires_at_ms is not null)
) engine = innodb default character set utf8mb4 collate bytewise;

create table if not exists order_lines (
  order_no bigint not null,
  sku bigint not null,
  quantity bigint not null check (quantity between 1 and 1000000000),
  restocked bigint not null check (restocked >= 0),
  written_off bigint not null check (written_off >= 0),
  decided_version bigint not null check (decided_version >= 0),
  primary key (order_no, sku),
  key order_lines_by_sku (sku),
  constraint order_lines_order foreign key (order_no) references orders (order_no),
  constraint order_lines_sku foreign key (sku) references inventory (sku),
  constraint order_lines_returned check (restocked + written_off <= quantity)
) engine = innodb default character set utf8mb4 collate bytewise;

-- Append-only. Its hashes are bytes, and hex for people. `order_no` is 0 for an entry without an
-- order: null would defeat the unique key.
create table if not exists inventory_log (
  sku bigint not null,
  version bigint not null check (version > 0),
  order_no bigint not null,
  operation_type varchar(16) not null,
  operation_id varchar(128) not null,
  quantity bigint not null check (quantity > 0),
  from_bucket varchar(16),
  to_bucket varchar(16),
  available bigint not null check (available >= 0),
  reserved bigint not null check (reserved >= 0),
  sold bigint not null check (sold >= 0),
  frozen bigint not null check (frozen >= 0),
  lost bigint not null check (lost >= 0),
  actor text not null,
  reason text not null,
  previous_hash varbinary(32) not null check (length(previous_hash) = 32),
  hash varbinary(32) not null check (length(hash) = 32),
  created_at_ms bigint not null,
  primary key (sku, version),
  unique key inventory_log_by_operation (sku, order_no, operation_type, operation_id),
  constraint inventory_log_sku foreign key (sku) references inventory (sku)
) engine = innodb default character set utf8mb4 collate bytewise;

create table if not exists payments (
  order_no bigint not null,
  payment_id varchar(64) not null,
  state varchar(16) not null check (state in ('taken', 'due', 'refunded')),
  code varchar(64),
  paid_at_ms bigint,
  recorded_at_ms bigint not null,
  refund_id varchar(64),
  primary key (order_no, payment_id),
  key payments_by_id (payment_id),
  constraint payments_order foreign key (order_no) references orders (order_no)
) engine = innodb default character set utf8mb4 collate bytewise;

create table if not exists operations (
  scope varchar(128) not null,
  operation_id varchar(64) not null,
  operation varchar(64) not null,
  fingerprint mediumtext not null,
  code varchar(64),
  detail text not null,
  versions mediumtext not null,
  content mediumtext not null,
  at_ms bigint not null,
  actor text not null,
  reason text not null,
  primary key (scope, operation_id),
  key operations_by_id (operation_id)
) engine = innodb default character set utf8mb4 collate bytewise;

create table if not exists dead_letters (
  id bigint not null auto_increment,
  lane bigint not null,
  reason text not null,
  body mediumblob not null,
  kind text,
  item_id text,
  sku_id text,
  tries bigint not null,
  state varchar(16) not null check (state in ('open', 'replayed', 'discarded')),
  created_at_ms bigint not null,
  settled_at_ms bigint,
  settled_by text,
  settled_reason text,
  primary key (id),
  key dead_letters_by_item (item_id(64))
) engine = innodb default character set utf8mb4 collate bytewise;

create table if not exists audit_log (
  id bigint not null auto_increment,
  at_ms bigint not null,
  actor text not null,
  action text not null,
  subject text not null,
  reason text not null,
  state_before mediumtext not null,
  state_after mediumtext not null,
  primary key (id)
) engine = innodb default character set utf8mb4 collate bytewise;

-- The log for people: string ids, and whether its event has been confirmed.
create or replace sql security invoker view inventory_log_view as
select
  i.sku_id,
  l.version,
  o.order_id,
  l.operation_type,
  l.operation_id,
  l.quantity,
  l.from_bucket,
  l.to_bucket,
  l.available,
  l.reserved,
  l.sold,
  l.frozen,
  l.lost,
  l.actor,
  l.reason,
  lower(hex(l.previous_hash)) collate bytewise as previous_hash,
  lower(hex(l.hash)) collate bytewise as hash,
  case when l.version <= i.published_version then 'success' else 'pending' end as status,
  l.created_at_ms
from inventory_log l
join inventory i on i.sku = l.sku
left join orders o on o.order_no = l.order_no;
