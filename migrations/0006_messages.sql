-- why: messages, what waits to be sent, and what providers told about them.
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
  -- not handed over by then: failed, `expired`
  expires_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  sending_at timestamptz,
  sent_at timestamptz,
  delivered_at timestamptz,
  read_at timestamptz,
  failed_at timestamptz,
  primary key (account_id, mode, id)
) partition by range (id);
create table messages_default partition of messages default with (fillfactor = 50);
-- No index on a column that changes: updates stay heap-only. BRIN does not count (it summarises).
create index messages_channel on messages (account_id, mode, channel_id, direction, id);
create index messages_to on messages (account_id, mode, "to", id);
create index messages_reference on messages (account_id, mode, reference, id) where reference is not null;
create index messages_updated on messages using brin (updated_at) with (autosummarize = on);

-- Due work of the dispatch lane. A claimed job is due again when its lease ends.
create table dispatch_jobs (
  account_id text collate "C" not null,
  mode text not null,
  message_id text collate "C" primary key,
  channel_id text collate "C" not null,
  -- the account's channel: what claims are fair across
  queue text collate "C" not null,
  -- 0 high, 1 normal, 2 low
  priority smallint not null,
  due_at timestamptz not null,
  process_id text collate "C",
  attempts integer not null default 0
) with (fillfactor = 70, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_threshold = 500, autovacuum_analyze_scale_factor = 0.02);
create index dispatch_jobs_due on dispatch_jobs (queue, priority, due_at, message_id);

-- Our record of the provider's ids. A message may be several provider messages.
create table provider_references (
  channel_id text collate "C" not null,
  provider_id text collate "C" not null,
  account_id text collate "C" not null,
  mode text not null,
  message_id text collate "C" not null,
  part smallint not null default 0,
  parts smallint not null default 1,
  -- of a part, where there are several: sent, delivered, read, failed
  status text,
  created_at timestamptz not null,
  primary key (channel_id, provider_id)
);
create index provider_references_message on provider_references (message_id) where parts > 1;

-- What a provider called back with, stored before it is acknowledged; looked at and replayed from here.
create table provider_callbacks (
  id text collate "C" primary key,
  channel_id text collate "C" not null,
  headers json not null,
  body bytea not null,
  received_at timestamptz not null,
  applied_at timestamptz
);

-- Receipts and inbound messages to be applied: from callbacks, sessions, or scheduled by the sandbox. Kept until applied.
create table provider_reports (
  id text collate "C" primary key,
  account_id text collate "C" not null,
  mode text not null,
  channel_id text collate "C" not null,
  -- null for an inbound message
  provider_id text collate "C",
  report json not null,
  due_at timestamptz not null,
  attempts integer not null default 0,
  created_at timestamptz not null
) with (fillfactor = 70, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_threshold = 500, autovacuum_analyze_scale_factor = 0.02);
create index provider_reports_due on provider_reports (due_at, id);

-- Inbound messages already taken: a provider tells the same one more than once.
create table inbound_references (
  channel_id text collate "C" not null,
  account_id text collate "C" not null,
  provider_id text collate "C" not null,
  message_id text collate "C" not null,
  created_at timestamptz not null,
  primary key (account_id, channel_id, provider_id)
);

-- Every hand-over to a provider and its answer.
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
create table message_attempts_default partition of message_attempts default;
