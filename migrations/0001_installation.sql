-- why: what belongs to the installation as a whole, and the order of the event feed.
create table installation (
  only_row boolean primary key default true check (only_row),
  -- of the cluster that last wrote here: another one means a logical restore, whose transaction ids start anew
  system_identifier text not null,
  feed_epoch integer not null default 0,
  -- proves that a process's secret key fits: a known text, encrypted
  key_check text,
  -- the key of suppression hashes, encrypted under the secret key
  address_hash_key text,
  created_at timestamptz not null
);

-- The position of an event: the epoch (16 bits) above the transaction id (48 bits). Grows with commit order as read below feed_horizon().
create function feed_position() returns bigint language sql stable
  return (select feed_epoch::bigint << 48 from installation) + (pg_current_xact_id()::text)::bigint;

-- Every event below this position is committed and visible, or never will be.
create function feed_horizon() returns bigint language sql stable
  return (select feed_epoch::bigint << 48 from installation) + (pg_snapshot_xmin(pg_current_snapshot())::text)::bigint;

-- Processes and their heartbeats: what a dead one had claimed is taken over (decisions 4).
create table processes (
  id text collate "C" primary key,
  roles text[] not null,
  started_at timestamptz not null,
  beat_at timestamptz not null
);
