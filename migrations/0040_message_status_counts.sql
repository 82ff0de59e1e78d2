-- why: lists of messages by status find the few among millions although no index may hold a status: how many messages of each
-- status a second has. A bucket is the first eight characters of an id's text, 1.024 seconds.
create table message_status_counts (
  account_id text collate "C" not null,
  mode text not null,
  status text collate "C" not null,
  bucket text collate "C" not null,
  n integer not null,
  -- one folded row a key, and deltas beside it until the next fold
  folded boolean not null default false
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000, autovacuum_analyze_threshold = 1000);
create index message_status_counts_key on message_status_counts (account_id, mode, status, bucket) include (n);
create index message_status_counts_unfolded on message_status_counts (bucket) where not folded;

-- Triggers, so that whoever writes a message counts it. For each statement: what a set-wise write costs a message is little.
create function count_new_messages() returns trigger language plpgsql as $$
begin
  insert into message_status_counts (account_id, mode, status, bucket, n)
  select account_id, mode, status, substr(id, 5, 8), count(*) from changed group by 1, 2, 3, 4;
  return null;
end $$;
create function count_moved_messages() returns trigger language plpgsql as $$
begin
  insert into message_status_counts (account_id, mode, status, bucket, n)
  select account_id, mode, status, bucket, sum(n) from (
    select account_id, mode, status, substr(id, 5, 8) as bucket, 1 as n from after
    union all
    select account_id, mode, status, substr(id, 5, 8), -1 from before
  ) c group by 1, 2, 3, 4 having sum(n) <> 0;
  return null;
end $$;
create trigger messages_count_new after insert on messages referencing new table as changed for each statement execute function count_new_messages();
create trigger messages_count_moved after update on messages referencing old table as before new table as after for each statement execute function count_moved_messages();
insert into message_status_counts (account_id, mode, status, bucket, n, folded)
select account_id, mode, status, substr(id, 5, 8), count(*), true from messages group by 1, 2, 3, 4;

-- finer ranges: what `updated_after` reads around a changed page
drop index messages_updated;
create index messages_updated on messages using brin (updated_at) with (autosummarize = on, pages_per_range = 16);
