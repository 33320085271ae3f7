-- Who may act, as in SQLite's migration of this number. Older processes do not look here, and
-- none of them may run beside one that does: they would act without a lease.

create table if not exists leases (
  name varchar(64) not null,
  holder varchar(64) not null,
  token bigint not null check (token > 0),
  until_ms bigint not null,
  primary key (name)
) engine = innodb default character set utf8mb4 collate bytewise;

-- What is known of a lane's hot stock besides: a doubt about the epoch that somebody saw, which
-- the next epoch answers, and how often it had to be mended.
create table if not exists lane_care (
  lane bigint not null,
  repairs bigint not null check (repairs >= 0),
  doubted_epoch bigint,
  doubt text,
  primary key (lane)
) engine = innodb default character set utf8mb4 collate bytewise;

insert into lane_care (lane, repairs)
select lane, 0 from lanes where lane not in (select lane from lane_care);
