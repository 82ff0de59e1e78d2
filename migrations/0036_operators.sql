-- why: the console shows how many messages of the last 30 days were sent, delivered and failed. Counts by seconds are too many to add up for a screen, so that what is folded is
-- counted by quarters of an hour as well, which is what time zones begin their days on.
create table message_quarter_counts (
  account_id text collate "C" not null,
  mode text not null,
  -- when the quarter of an hour begins
  quarter timestamptz not null,
  status text collate "C" not null,
  n integer not null,
  primary key (account_id, mode, quarter, status)
);

-- Which messages failed although they had been sent is no status; they are counted as one beside it.
create or replace function count_changed_messages() returns trigger language plpgsql as $$
begin
  insert into message_status_counts (account_id, mode, status, bucket, n)
  select account_id, mode, status, substr(id, 5, 8), sum(n) from (
    select account_id, mode, status, id, 1 as n from after
    union all
    select account_id, mode, status, id, -1 from before
    union all
    select account_id, mode, 'failed_after_sent', id, 1 from after where status = 'failed' and sent_at is not null
    union all
    select account_id, mode, 'failed_after_sent', id, -1 from before where status = 'failed' and sent_at is not null
  ) c group by 1, 2, 3, 4 having sum(n) <> 0;
  return null;
end $$;

insert into message_status_counts (account_id, mode, status, bucket, n)
select account_id, mode, 'failed_after_sent', substr(id, 5, 8), count(*) from messages where status = 'failed' and sent_at is not null group by 1, 2, 3, 4;

-- Eight characters of base 32 are the first 38 of 48 bits of milliseconds.
insert into message_quarter_counts (account_id, mode, quarter, status, n)
select account_id, mode, q.quarter, status, sum(n) from message_status_counts
cross join lateral (
  select date_bin('15 minutes', to_timestamp(sum((strpos('0123456789abcdefghjkmnpqrstvwxyz', substr(bucket, i, 1)) - 1)::bigint << (5 * (8 - i))) * 1.024), 'epoch') as quarter
  from generate_series(1, 8) i
) q
where folded group by 1, 2, 3, 4;
