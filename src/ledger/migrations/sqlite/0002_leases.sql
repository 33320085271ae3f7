-- Who may act. Older processes do not look here, and none of them may run beside one that does:
-- they would act without a lease.

create table leases (
  name text primary key,
  holder text not null,
  token integer not null check (token > 0),
  until_ms integer not null
) strict, without rowid;

-- What is known of a lane's hot stock besides: a doubt about the epoch that somebody saw, which
-- the next epoch answers, and how often it had to be mended.
create table lane_care (
  lane integer primary key,
  repairs integer not null check (repairs >= 0),
  doubted_epoch integer,
  doubt text
) strict;

insert into lane_care (lane, repairs) select lane, 0 from lanes;
