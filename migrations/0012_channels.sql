-- why: a channel that needs an open link with its provider, such as SMPP's bind, has it in one process of the installation at a time.
create table channel_sessions (
  channel_id text collate "C" primary key,
  process_id text collate "C" not null,
  lease_until timestamptz not null
);
