-- why: the event feed. Partitioned by id (weekly, made ahead by the chores lane), kept 30 days.
create table events (
  account_id text collate "C" not null,
  mode text not null,
  id text collate "C" not null,
  type text not null,
  object_id text collate "C" not null,
  object json not null,
  -- webhook.test goes to one endpoint alone
  endpoint_id text collate "C",
  created_at timestamptz not null,
  position bigint not null,
  primary key (account_id, mode, id)
) partition by range (id);
create table events_default partition of events default;
create index events_feed on events (account_id, mode, position, id);
create index events_object on events (account_id, mode, object_id, position, id);
-- the fan-out lane follows every account's events at once
create index events_position on events (position, id);

-- Accepted results of operations, replayed for 24 hours (decisions 3).
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
