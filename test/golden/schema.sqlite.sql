CREATE TABLE audit_log (
  id integer primary key,
  at_ms integer not null,
  actor text not null,
  action text not null,
  subject text not null,
  reason text not null,
  state_before text not null,
  state_after text not null
) strict;

CREATE TABLE dead_letters (
  id integer primary key,
  lane integer not null,
  reason text not null,
  body blob not null,
  kind text,
  item_id text,
  sku_id text,
  tries integer not null,
  state text not null check (state in ('open', 'replayed', 'discarded')),
  created_at_ms integer not null,
  settled_at_ms integer,
  settled_by text,
  settled_reason text
) strict;

CREATE INDEX dead_letters_by_item on dead_letters (item_id);

CREATE TABLE inventory (
  sku integer primary key,
  sku_id text not null unique,
  lane integer not null references lanes (lane),
  sale integer references sales (sale),
  status text not null check (status in ('normal', 'stopped')),
  status_reason text,
  status_revision integer not null,
  total integer not null check (total between 0 and 9007199254740991),
  available integer not null check (available >= 0),
  reserved integer not null check (reserved >= 0),
  sold integer not null check (sold >= 0),
  frozen integer not null check (frozen >= 0),
  lost integer not null check (lost >= 0),
  version integer not null check (version >= 0),
  hash text not null check (length(hash) = 64),
  -- Entries up to this version have been told to the world, in order.
  published_version integer not null default 0 check (published_version between 0 and version),
  check (available + reserved + sold + frozen + lost = total)
) strict;

CREATE INDEX inventory_by_lane on inventory (lane);

CREATE INDEX inventory_unpublished on inventory (sku) where published_version < version;

CREATE TABLE inventory_log (
  sku integer not null references inventory (sku) deferrable initially deferred,
  version integer not null check (version > 0),
  order_no integer not null,
  operation_type text not null,
  operation_id text not null,
  quantity integer not null check (quantity > 0),
  from_bucket text,
  to_bucket text,
  available integer not null check (available >= 0),
  reserved integer not null check (reserved >= 0),
  sold integer not null check (sold >= 0),
  frozen integer not null check (frozen >= 0),
  lost integer not null check (lost >= 0),
  actor text not null,
  reason text not null,
  previous_hash blob not null check (length(previous_hash) = 32),
  hash blob not null check (length(hash) = 32),
  created_at_ms integer not null,
  primary key (sku, version),
  unique (sku, order_no, operation_type, operation_id)
) strict, without rowid;

CREATE VIEW inventory_log_view as
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
  lower(hex(l.previous_hash)) as previous_hash,
  lower(hex(l.hash)) as hash,
  case when l.version <= i.published_version then 'success' else 'pending' end as status,
  l.created_at_ms
from inventory_log l
join inventory i on i.sku = l.sku
left join orders o on o.order_no = l.order_no;

CREATE TABLE lane_care (
  lane integer primary key,
  repairs integer not null check (repairs >= 0),
  doubted_epoch integer,
  doubt text
) strict;

CREATE TABLE lanes (
  lane integer primary key,
  epoch integer not null check (epoch >= 0),
  met integer not null check (met >= 0),
  incarnation text
) strict;

CREATE TABLE leases (
  name text primary key,
  holder text not null,
  token integer not null check (token > 0),
  until_ms integer not null
) strict, without rowid;

CREATE TABLE meta (
  name text primary key,
  value blob not null
) strict, without rowid;

CREATE TABLE migrations (
    number integer primary key,
    name varchar(200) not null,
    hash char(64) not null,
    applied_at_ms bigint not null
  );

CREATE TABLE operations (
  scope text not null,
  operation_id text not null,
  operation text not null,
  fingerprint text not null,
  code text,
  detail text not null,
  versions text not null,
  content text not null,
  at_ms integer not null,
  actor text not null,
  reason text not null,
  primary key (scope, operation_id)
) strict, without rowid;

CREATE INDEX operations_by_id on operations (operation_id);

CREATE TABLE order_lines (
  order_no integer not null references orders (order_no) deferrable initially deferred,
  sku integer not null references inventory (sku) deferrable initially deferred,
  quantity integer not null check (quantity between 1 and 1000000000),
  restocked integer not null check (restocked >= 0),
  written_off integer not null check (written_off >= 0),
  decided_version integer not null check (decided_version >= 0),
  primary key (order_no, sku),
  check (restocked + written_off <= quantity)
) strict, without rowid;

CREATE INDEX order_lines_by_sku on order_lines (sku);

CREATE TABLE orders (
  order_no integer primary key,
  order_id text not null unique,
  sale integer references sales (sale) deferrable initially deferred,
  buyer_id text,
  idempotency_key text,
  state text not null check (
    state in ('reserved', 'rejected', 'confirmed', 'cancelled', 'expired', 'void', 'refunded')
  ),
  code text,
  reason text,
  fingerprint text,
  admitted_at_ms integer,
  sent_at_ms integer,
  attempt integer not null,
  decided_at_ms integer not null,
  expires_at_ms integer,
  ended_at_ms integer,
  payment_id text,
  revived integer not null check (revived in (0, 1)), request_id text, trace_id text,
  check (state <> 'reserved' or expires_at_ms is not null)
) strict;

CREATE INDEX orders_by_buyer on orders (sale, buyer_id) where sale is not null;

CREATE INDEX orders_due on orders (expires_at_ms, order_no, sale) where state = 'reserved';

CREATE INDEX orders_without_sale on orders (order_no) where sale is null;

CREATE TABLE payments (
  order_no integer not null references orders (order_no),
  payment_id text not null,
  state text not null check (state in ('taken', 'due', 'refunded')),
  code text,
  paid_at_ms integer,
  recorded_at_ms integer not null,
  refund_id text,
  primary key (order_no, payment_id)
) strict, without rowid;

CREATE INDEX payments_by_id on payments (payment_id);

CREATE TABLE requests (
  request_no integer primary key,
  request_id text not null,
  trace_id text,
  scope text not null,
  operation text not null,
  operation_id text not null,
  at_ms integer not null
) strict;

CREATE INDEX requests_by_scope on requests (scope);

CREATE TABLE sale_items (
  sale integer not null references sales (sale),
  sku integer not null references inventory (sku),
  stocked integer not null check (stocked >= 0),
  primary key (sale, sku)
) strict, without rowid;

CREATE TABLE sales (
  sale integer primary key,
  sale_id text not null unique,
  lane integer not null references lanes (lane),
  title text not null,
  fingerprint text not null,
  state text not null check (state in ('draft', 'open', 'paused', 'closed')),
  revision integer not null,
  opens_at_ms integer,
  closes_at_ms integer,
  hold_ms integer not null check (hold_ms > 0),
  limit_per_buyer integer check (limit_per_buyer > 0),
  created_at_ms integer not null,
  closed_at_ms integer
) strict;

CREATE INDEX sales_by_state on sales (state);

CREATE TABLE sessions (
  session_id text primary key,
  name text not null,
  credential text not null,
  opened_at_ms integer not null,
  seen_at_ms integer not null
) strict, without rowid;

CREATE INDEX sessions_by_name on sessions (name);

CREATE TABLE sign_in_attempts (
  subject text primary key,
  failures integer not null check (failures > 0),
  last_at_ms integer not null,
  locked_until_ms integer not null
) strict, without rowid;

CREATE INDEX sign_in_attempts_by_age on sign_in_attempts (last_at_ms);
