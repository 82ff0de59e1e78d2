-- why: what the installation as a whole needs: the order of the event feed, the processes, the events themselves, and the replies kept under idempotency keys.
create table installation (
  only_row boolean primary key default true check (only_row),
  -- of the cluster that last wrote here: another one means a logical restore, whose transaction ids start anew
  system_identifier text not null,
  feed_epoch integer not null default 0,
  -- proves that a process's secret key fits: a known text, encrypted
  key_check text,
  -- the key of suppression hashes, encrypted under the secret key
  address_hash_key text,
  created_at timestamptz not null,
  -- readers of the feed do not wait for transactions that cannot write events: set while such a transaction runs, because it costs a look at all sessions
  feed_skips_unrelated boolean not null default false,
  -- the last time that was believed: a clock that jumps ahead deletes nothing, not even after a restart
  trusted_at timestamptz
);

-- The position of an event: the epoch (16 bits) above the transaction id (48 bits). Grows with commit order as read below feed_horizon().
create function feed_position() returns bigint language sql stable
  return (select feed_epoch::bigint << 48 from installation) + (pg_current_xact_id()::text)::bigint;

-- Every event below this position is committed and visible, or never will be.
create function feed_horizon() returns bigint language sql stable
  return (select feed_epoch::bigint << 48 from installation) + (pg_snapshot_xmin(pg_current_snapshot())::text)::bigint;

-- A column of a set-wise statement comes as one text, a line for each row: that costs half of parsing rows of JSON. An empty line is null.
create function text_column(lines text) returns text[] language sql immutable parallel safe return string_to_array(lines, E'\n', '');

-- A statement that finds that somebody else was quicker (a twin of an idempotency key, another holder of a submission key) takes everything back, and is repeated whole.
create function agree(holds boolean) returns boolean language plpgsql stable as $$
begin
  if holds then return true; end if;
  raise exception 'a concurrent request was quicker' using errcode = '40001';
end $$;

-- Processes and their heartbeats: what a dead one had claimed is taken over.
create table processes (
  id text collate "C" primary key,
  roles text[] not null,
  started_at timestamptz not null,
  heartbeat_at timestamptz not null
);

-- The event feed. Partitioned by id (weekly, made ahead by the periodic jobs worker), kept 30 days.
create table events (
  account_id text collate "C" not null,
  mode text not null,
  id text collate "C" not null,
  type text not null,
  object_id text collate "C" not null,
  -- JSON, written as the service made it and read as it was written: that it is JSON need not be checked for every message
  object text not null,
  -- webhook.test goes to one endpoint alone
  endpoint_id text collate "C",
  created_at timestamptz not null,
  position bigint not null
) partition by range (id);
-- Tables that only grow are analysed when they have doubled: at every fifth of growth each session would plan its statements anew six times in the first minute under load.
create table events_default partition of events default with (autovacuum_analyze_scale_factor = 1);
create index events_feed on events (account_id, mode, position, id);
-- the fan-out worker follows every account's events at once
create index events_position on events (position, id);
-- a feed filtered by types is read from this index, so that it never walks the events of other types
create index events_type on events (account_id, mode, type, position, id);
-- an object's id is unique by itself: its events are found by it alone, in an index of half the size
create index events_object on events (object_id, position, id);
-- Last: before a table has statistics its indexes look alike to the planner, and of those that look alike the one made last is taken. A look-up of one row
-- by its key must never walk an index that merely holds the key's columns somewhere (docs/decisions/set-wise-statements.md).
alter table events add primary key (account_id, mode, id);

-- Accepted results of operations, replayed for 24 hours.
create table idempotency_keys (
  account_id text collate "C" not null,
  mode text not null,
  operation text not null,
  key text collate "C" not null,
  fingerprint text not null,
  -- null while an operation that leaves the database runs under a lease
  status integer,
  -- either the stored body, or what it is rebuilt from
  response json,
  encrypted_response text,
  message_id text collate "C",
  lease_until timestamptz,
  created_at timestamptz not null,
  constraint idempotency_keys_pkey primary key (account_id, mode, operation, key)
);
create index idempotency_keys_created on idempotency_keys (created_at);
