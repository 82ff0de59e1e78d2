-- why: messages, their dispatch jobs, and provider callbacks.

-- No index on a column that changes: updates stay heap-only. BRIN does not count (it summarises).
create table messages (
  account_id text collate "C" not null,
  mode text not null,
  id text collate "C" not null,
  channel_id text collate "C" not null,
  channel_type text not null,
  direction text not null,
  "to" text collate "C" not null,
  "from" text not null,
  type text not null,
  content json not null,
  status text not null check (status in ('queued', 'sending', 'sent', 'delivered', 'read', 'failed', 'received')),
  error json,
  reference text collate "C",
  metadata json not null,
  billing_source text not null,
  amount_micros bigint not null,
  package_grant_id text collate "C",
  refunded boolean not null default false,
  contact_id text collate "C",
  origin_type text not null,
  origin_id text collate "C",
  reply_to text collate "C",
  segments smallint,
  encoding text,
  priority text not null default 'normal',
  send_at timestamptz,
  -- the message fails with `expired` if it is not sent by this time
  expires_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  sending_at timestamptz,
  sent_at timestamptz,
  delivered_at timestamptz,
  read_at timestamptz,
  failed_at timestamptz,
  -- unique key of the producer's row, so that it becomes exactly one message ("cmp_…/17")
  submission_key text collate "C"
) partition by range (id);
-- A message is updated three times within a second or so; with half of a page free one update in ten moved to another page.
create table messages_default partition of messages default with (fillfactor = 30, autovacuum_analyze_scale_factor = 1);
create index messages_channel on messages (account_id, mode, channel_id, direction, id);
create index messages_to on messages (account_id, mode, "to", id);
create index messages_reference on messages (account_id, mode, reference, id) where reference is not null;
-- Created last: of equivalent indexes the planner takes the newest (see `events`).
alter table messages add primary key (account_id, mode, id);
-- Each query for late changes (`updated_after`) reads the whole summary of times; a range of 32 pages with a late change takes a fraction of a millisecond.
create index messages_updated on messages using brin (updated_at) with (autosummarize = on, pages_per_range = 32);

-- Jobs of the dispatch worker. A claimed job runs again when its lease ends.
create table dispatch_jobs (
  account_id text collate "C" not null,
  mode text not null,
  message_id text collate "C" primary key,
  channel_id text collate "C" not null,
  -- the account's channel; claims are fair across queues
  queue text collate "C" not null,
  -- 0 high, 1 normal, 2 low
  priority smallint not null,
  next_run_at timestamptz not null,
  process_id text collate "C",
  attempts integer not null default 0,
  -- an earlier send attempt had no answer: before sending again, query the status if the provider supports it
  outcome_unknown boolean not null default false,
  -- provider ids of the accepted parts; a later attempt sends only the others
  accepted_ids text[],
  -- of the content and metadata as JSON: bounds what one claim reads
  bytes integer not null default 0,
  -- how often the message could not be read or prepared
  unreadable smallint not null default 0
) with (fillfactor = 70, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_threshold = 500, autovacuum_analyze_scale_factor = 0.02);
-- finds the jobs of a dead process
create index dispatch_jobs_process on dispatch_jobs (process_id) where process_id is not null;
-- partial: jobs that a process owns from the start are never claimed from the queue, and their dead entries would slow down claims
create index dispatch_jobs_free on dispatch_jobs (queue, priority, next_run_at, message_id) where process_id is null;

-- The process that dispatches a channel now: it owns the rate limit and the session, and accepts messages in memory.
create table channel_leases (
  channel_id text collate "C" primary key,
  process_id text collate "C" not null,
  lease_until timestamptz not null
);

-- Provider ids of our messages. A message may be several provider messages.
create table provider_references (
  channel_id text collate "C" not null,
  provider_id text collate "C" not null,
  account_id text collate "C" not null,
  mode text not null,
  message_id text collate "C" not null,
  part smallint not null default 0,
  parts smallint not null default 1,
  -- of the part, if there are several: sent, delivered, read, failed
  status text,
  created_at timestamptz not null,
  primary key (channel_id, provider_id)
) with (autovacuum_analyze_scale_factor = 1);
-- for replies: the provider's id of the message replied to
create index provider_references_message on provider_references (message_id);
-- finds old records; BRIN, because a B-tree would cost every message
create index provider_references_created on provider_references using brin (created_at);

-- Callbacks of providers, stored before they are acknowledged, for inspection and replay.
create table provider_callbacks (
  id text collate "C" primary key,
  channel_id text collate "C" not null,
  headers json not null,
  body bytea not null,
  received_at timestamptz not null,
  applied_at timestamptz,
  -- gzip, or null for a small body, stored unchanged; a callback with a thousand statuses has 200 KB of repetitive text
  encoding text
);
create index provider_callbacks_received on provider_callbacks using brin (received_at);

-- Receipts and inbound messages to apply: from callbacks, from sessions, or scheduled by the sandbox. Deleted once applied. Reads and deletes go by time, so the
-- primary key is the only index they need.
create table callback_items (
  id text collate "C" not null,
  account_id text collate "C" not null,
  mode text not null,
  channel_id text collate "C" not null,
  -- null for an inbound message
  provider_id text collate "C",
  item json not null,
  next_run_at timestamptz not null,
  attempts integer not null default 0,
  created_at timestamptz not null,
  -- of the item: bounds what one batch reads
  bytes integer not null default 0,
  primary key (next_run_at, id)
) with (fillfactor = 70, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_threshold = 500, autovacuum_analyze_scale_factor = 0.02);
-- finds due items of other channels when one channel has more than a batch
create index callback_items_channel on callback_items (channel_id, next_run_at, id);

-- Inbound messages already stored: providers repeat callbacks.
create table inbound_references (
  channel_id text collate "C" not null,
  account_id text collate "C" not null,
  provider_id text collate "C" not null,
  message_id text collate "C" not null,
  created_at timestamptz not null,
  primary key (account_id, channel_id, provider_id)
);
create index inbound_references_message on inbound_references (message_id);
create index inbound_references_created on inbound_references using brin (created_at);

-- Every send attempt and its outcome.
create table message_attempts (
  account_id text collate "C" not null,
  mode text not null,
  message_id text collate "C" not null,
  number integer not null,
  id text collate "C" not null,
  provider text not null,
  outcome text not null check (outcome in ('accepted', 'refused', 'throttled', 'unavailable', 'unknown')),
  provider_code text,
  provider_message text,
  duration_ms integer not null,
  created_at timestamptz not null,
  primary key (message_id, number)
) partition by range (message_id);
create table message_attempts_default partition of message_attempts default with (autovacuum_analyze_scale_factor = 1);

-- Messages per status and second, so that lists by status find a few among millions: no index may contain the status. A bucket is the first eight characters of
-- an id, 1.024 seconds.
create table message_status_counts (
  account_id text collate "C" not null,
  mode text not null,
  status text collate "C" not null,
  bucket text collate "C" not null,
  n integer not null,
  -- one folded row per key; other rows are deltas that are not folded yet
  folded boolean not null default false
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000, autovacuum_analyze_threshold = 1000);
create index message_status_counts_key on message_status_counts (account_id, mode, status, bucket) include (n);
create index message_status_counts_unfolded on message_status_counts (bucket) where not folded;

-- Triggers, so that every write is counted. Per statement, because the cost of a set-wise write is spread over many messages.
create function count_new_messages() returns trigger language plpgsql as $$
begin
  insert into message_status_counts (account_id, mode, status, bucket, n)
  select account_id, mode, status, substr(id, 5, 8), count(*) from changed group by 1, 2, 3, 4;
  return null;
end $$;
-- Messages that failed after they were sent have no status of their own: they are also counted as `failed_after_sent`.
create function count_changed_messages() returns trigger language plpgsql as $$
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
create trigger messages_count_new after insert on messages referencing new table as changed for each statement execute function count_new_messages();
create trigger messages_count_changed after update on messages referencing old table as before new table as after for each statement execute function count_changed_messages();

-- Transitions that projections have not folded: one row per projection, written with the change. A projection folds and deletes rows in one transaction;
-- its total is its own sums plus these rows, in one snapshot.
create table message_transitions (
  projection text collate "C" not null,
  account_id text collate "C" not null,
  mode text not null,
  origin_type text not null,
  origin_id text collate "C",
  -- null: the messages were accepted
  from_status text,
  status text not null,
  -- the messages, each with its submission key and its time at the same place
  message_ids text[] collate "C" not null,
  submission_keys text[] collate "C" not null,
  times timestamptz[] not null
) with (toast_tuple_target = 8160, vacuum_truncate = off, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 1000);
-- pages that were emptied are filled again, and not given back to be asked for once more; arrays are read once and deleted: compressing them would cost more than it saves
alter table message_transitions alter column message_ids set storage external, alter column submission_keys set storage external, alter column times set storage external;
create index message_transitions_origin on message_transitions (projection, origin_id);

-- Parts of long inbound texts: an operator's part is acknowledged before the others have arrived, so each part must outlive the process that received it.
create table inbound_parts (
  account_id text collate "C" not null,
  mode text not null check (mode in ('live', 'test')),
  channel_id text collate "C" not null,
  sender text collate "C" not null,
  -- the sender's number for the parts of one text; reused for later texts
  reference text collate "C" not null,
  total smallint not null,
  -- [{number, text, provider_id}], each once
  parts json not null,
  -- joined: all parts arrived and the text is stored; kept to recognise repeated parts
  status text not null check (status in ('waiting', 'joined')),
  next_run_at timestamptz not null,
  created_at timestamptz not null,
  primary key (channel_id, sender, reference, total)
);
create index inbound_parts_due on inbound_parts (next_run_at);

-- Channels that their provider throttles: they stay paused, and then slow, in whichever process dispatches them next.
create table channel_pauses (
  channel_id text collate "C" primary key,
  account_id text collate "C" not null,
  channel_type text not null,
  -- who was throttled, and knows without this
  process_id text collate "C" not null,
  paused_at timestamptz not null,
  paused_until timestamptz not null,
  -- how often in a row
  times integer not null,
  -- messages a second with which it goes on
  pace double precision not null
);
create index channel_pauses_account on channel_pauses (account_id);

-- Folded counts a quarter of an hour, the unit on which days of all time zones begin: counts a second are too many to add up for a screen.
create table message_quarter_counts (
  account_id text collate "C" not null,
  mode text not null,
  -- when the quarter of an hour begins
  quarter timestamptz not null,
  status text collate "C" not null,
  n integer not null,
  primary key (account_id, mode, quarter, status)
);

-- Messages are stored for ever unless a setting limits it; then whole months are dropped.
create table message_retention (
  only_row boolean primary key default true check (only_row),
  -- messages with smaller ids are or will be deleted; derived data is deleted first
  deleted_before text collate "C" not null
);
