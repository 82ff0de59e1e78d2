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
  created_at timestamptz not null,
  -- null: the provider has no templates
  templates_refresh_at timestamptz,
  -- when the read began that our copy comes from: a read that began earlier does not overwrite it
  templates_read_at timestamptz,
  -- when somebody last had the connection tested, or changed the credentials: open circuit breakers probe again after this
  connection_tested_at timestamptz
);
create index channels_account on channels (account_id, mode, id);
-- a type and identifier belong to one account in the whole installation
create unique index channels_identifier on channels (type, identifier) where deleted_at is null;
-- lost links are tried again every second, whatever the number of channels that stand
create index channels_disconnected on channels (id) where connection_status = 'disconnected' and deleted_at is null;

-- A channel that needs an open session with its provider, such as SMPP's bind, has it in one process of the installation at a time.
create table channel_sessions (
  channel_id text collate "C" primary key,
  process_id text collate "C" not null,
  lease_until timestamptz not null,
  -- whether the session is open now, and not only leased
  is_open boolean not null default false
);

-- Our copy of each provider's templates: every template message is looked up by name and language, and the provider's own list takes seconds.
create table channel_templates (
  account_id text collate "C" not null,
  mode text not null check (mode = 'live'),
  channel_id text collate "C" not null references channels (id),
  id text collate "C" primary key,
  -- the provider's own
  provider_id text not null,
  name text not null,
  language text not null,
  category text not null,
  status text not null,
  parameter_format text not null,
  components json not null,
  rejected_reason text,
  updated_at timestamptz not null
);
create unique index channel_templates_provider on channel_templates (channel_id, provider_id);
create index channel_templates_name on channel_templates (channel_id, name, language);
create index channels_templates_refresh on channels (templates_refresh_at) where templates_refresh_at is not null and deleted_at is null;
