-- why: integrations. Shops and sites are sources; what they report becomes a receipt, and the automations of the source decide which message follows, each by a run.

create table integration_sources (
  account_id text collate "C" not null,
  mode text not null check (mode in ('live', 'test')),
  id text collate "C" not null,
  platform text not null,
  -- the platform's own id of the shop or site
  external_id text not null,
  name text not null,
  url text,
  status text not null default 'active' check (status in ('active', 'disabled')),
  plugin_version text,
  platform_version text,
  emits text[] not null default '{}',
  contact_sync boolean not null default true,
  consent_mode text not null default 'implied' check (consent_mode in ('implied', 'explicit')),
  store_all_events boolean not null default false,
  -- raised by every change that the source shows, but that of last_event_at
  config_version integer not null default 1,
  -- SHA-256 of the source key
  key_hash text not null,
  -- encrypted: what native webhooks are signed with
  signing_secret text not null,
  created_at timestamptz not null,
  -- kept without its secrets, for cursors do not expire
  deleted_at timestamptz,
  primary key (id)
);
create unique index integration_sources_of_platform on integration_sources (account_id, mode, platform, external_id) where deleted_at is null;
create unique index integration_sources_key on integration_sources (key_hash) where deleted_at is null;
create index integration_sources_listed on integration_sources (account_id, mode, id);

create table automations (
  account_id text collate "C" not null,
  mode text not null check (mode in ('live', 'test')),
  id text collate "C" not null,
  source_id text collate "C" not null,
  name text not null,
  event_type text not null,
  status text not null check (status in ('active', 'paused')),
  -- null: every event of its type
  conditions json,
  delay_seconds integer not null,
  cancel_on text[] not null,
  channel_id text collate "C" not null,
  channel_type text not null,
  category text not null check (category in ('transactional', 'marketing')),
  message json not null,
  -- merge tag name to the text that stands where nothing is known
  merge_fallbacks json not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  primary key (id)
);
create index automations_of_source on automations (source_id, event_type) where deleted_at is null;
create index automations_listed on automations (account_id, mode, id);
create index automations_of_channel on automations (account_id, mode, channel_id) where deleted_at is null and status = 'active';

-- Events of sources, one row each however often the source reports it.
create table automation_events (
  account_id text collate "C" not null,
  mode text not null check (mode in ('live', 'test')),
  id text collate "C" not null,
  source_id text collate "C" not null,
  type text not null,
  -- the source's own id of the event
  event_id text not null,
  -- one status of one order, counted once however many topics of a platform report it
  dedup_key text,
  origin text not null check (origin in ('api', 'native_webhook')),
  status text not null check (status in ('accepted', 'ignored', 'skipped', 'failed')),
  reason text,
  contact_id text collate "C",
  -- as reported
  customer json not null,
  consent json not null,
  data json not null,
  occurred_at timestamptz not null,
  created_at timestamptz not null,
  -- the dedup_key that this event released for other topics, because it had no reachable recipient; later parcels and refunds of the order find their customer by it
  freed_dedup_key text,
  primary key (id)
-- compressing a webhook of a few KB would cost as much as the rest of its receipt
) with (toast_tuple_target = 8160);
create unique index automation_events_once on automation_events (source_id, event_id);
create unique index automation_events_dedup_key on automation_events (source_id, dedup_key) where dedup_key is not null;
create index automation_events_listed on automation_events (account_id, mode, id);
create index automation_events_of_source on automation_events (source_id, id);
create index automation_events_freed on automation_events (source_id, freed_dedup_key) where freed_dedup_key is not null;

-- One run per automation and event: it sends a message, now or later, or none and says why. At most one message per run: its submission locks the run, which must be scheduled and have no message.
create table automation_runs (
  account_id text collate "C" not null,
  mode text not null check (mode in ('live', 'test')),
  id text collate "C" not null,
  source_id text collate "C" not null,
  automation_id text collate "C" not null,
  automation_event_id text collate "C" not null,
  contact_id text collate "C",
  -- keys of the customer within the source; an event with one of the same keys is about the same customer
  customer_keys text[] not null,
  -- of the automation when the run was created; if they change, the run no longer applies
  event_type text not null,
  channel_type text not null,
  -- the recipient as written, and its address in contact_addresses; null if the channel cannot reach the customer
  "to" text,
  address text,
  status text not null check (status in ('scheduled', 'sent', 'skipped', 'cancelled', 'failed')),
  reason text,
  scheduled_for timestamptz not null,
  message_id text collate "C",
  -- when a process may claim it; a claim moves this to the end of its lease. Null if the run is not scheduled
  next_run_at timestamptz,
  -- consecutive failed attempts
  failures smallint not null default 0,
  created_at timestamptz not null,
  primary key (id),
  check ((next_run_at is not null) = (status = 'scheduled')),
  check ((message_id is not null) = (status = 'sent'))
);
create index automation_runs_due on automation_runs (next_run_at) where next_run_at is not null;
create index automation_runs_due_of_source on automation_runs (source_id, next_run_at) where next_run_at is not null;
create index automation_runs_of_event on automation_runs (automation_event_id);
create index automation_runs_of_automation on automation_runs (automation_id, id);
create index automation_runs_waiting_of_automation on automation_runs (automation_id) where next_run_at is not null;
create index automation_runs_listed on automation_runs (account_id, mode, id);
create index automation_runs_by_status on automation_runs (account_id, mode, status, id);
create index automation_runs_of_address on automation_runs (account_id, mode, address) where status = 'scheduled';
create index automation_runs_of_contact on automation_runs (contact_id) where status = 'scheduled';
-- fastupdate off: entries that wait to be merged are read through by every look-up
create index automation_runs_waiting on automation_runs using gin (customer_keys) with (fastupdate = off) where status = 'scheduled';

-- Whom a platform wants forgotten: a row for as long as something of him may be left.
create table integration_redactions (
  account_id text collate "C" not null,
  mode text not null check (mode in ('live', 'test')),
  -- the receipt of the webhook that asked for it
  id text collate "C" not null,
  source_id text collate "C" not null,
  -- everything that the platform names him by
  external_id text,
  phone text,
  email text,
  order_ids text[] not null,
  -- receipts of the source before this id are still to be looked at, newest first; null while his contacts are
  before_id text collate "C",
  created_at timestamptz not null,
  primary key (id)
);
create index integration_redactions_oldest on integration_redactions (account_id, id);
