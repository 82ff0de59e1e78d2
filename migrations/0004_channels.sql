-- why: the account's senders. Sandbox channels are not rows: they stand in every account's test mode.
create table channels (
  account_id text collate "C" not null references accounts (id),
  mode text not null check (mode = 'live'),
  id text collate "C" primary key,
  type text not null,
  provider text not null,
  name text not null,
  identifier text not null,
  status text not null check (status in ('pending', 'active', 'suspended', 'disabled')),
  connection_status text not null check (connection_status in ('connecting', 'connected', 'disconnected')),
  capabilities text[] not null,
  settings json not null default '{}',
  -- AES-256-GCM, never returned
  credentials text not null,
  deleted_at timestamptz,
  created_at timestamptz not null
);
create index channels_account on channels (account_id, mode, id);
-- a type and identifier belong to one account in the whole installation
create unique index channels_identifier on channels (type, identifier) where deleted_at is null;
-- lost links are tried again every second, whatever the number of channels that stand
create index channels_disconnected on channels (id) where connection_status = 'disconnected' and deleted_at is null;
