-- why: a channel that its provider throttles stays paused when another process takes over dispatching it, and goes on slower there too.
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
