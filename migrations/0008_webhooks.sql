-- why: webhook endpoints, what waits to be posted to them, and what became of it. Functions stand in src/modules/webhooks/sql/.
create table webhook_endpoints (
  account_id text collate "C" not null,
  mode text not null,
  id text collate "C" not null,
  url text not null,
  description text not null,
  events text[] not null,
  status text not null check (status in ('active', 'disabled')),
  filters json not null,
  metadata json not null,
  source text,
  created_by json not null,
  -- encrypted; the previous secret signs too until its time is over
  secret text not null,
  previous_secret text,
  previous_secret_until timestamptz,
  verification_token text,
  -- grows with every change: who holds a copy sees that it is old
  version integer not null default 1,
  -- deleted endpoints stay as cursors of lists
  deleted_at timestamptz,
  created_at timestamptz not null,
  primary key (account_id, mode, id)
);
create unique index webhook_endpoints_id on webhook_endpoints (id);

-- The active endpoints as the fan-out worker reads them: a row for each event type, `*` for all. Written with the endpoint.
create table webhook_subscriptions (
  account_id text collate "C" not null,
  mode text not null,
  event_type text collate "C" not null,
  endpoint_id text collate "C" not null,
  -- null: everything passes
  filters jsonb,
  -- the endpoint gets no events committed before it was created or enabled
  since_snapshot pg_snapshot not null,
  since_position bigint not null,
  primary key (account_id, mode, event_type, endpoint_id)
);
create index webhook_subscriptions_endpoint on webhook_subscriptions (endpoint_id);

-- How far the fan-out worker has followed the feed.
create table webhook_fan_out (
  only_row boolean primary key default true check (only_row),
  position bigint not null,
  id text collate "C" not null
);
insert into webhook_fan_out (position, id) values (0, '');

-- Deliveries whose time has come. Rows are only inserted and deleted; a process works on the rows of the endpoints whose lease it holds.
create table webhook_queue (
  endpoint_id text collate "C" not null,
  id text collate "C" not null,
  account_id text collate "C" not null,
  mode text not null,
  event_id text collate "C" not null,
  event_type text not null,
  -- attempts made so far, and how the last one ended
  attempts integer not null default 0,
  response_status integer,
  duration_ms integer,
  error text,
  error_message text,
  -- false: one attempt only, asked for by hand
  scheduled boolean not null default true,
  next_run_at timestamptz not null,
  created_at timestamptz not null,
  primary key (endpoint_id, id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 2000,
  autovacuum_vacuum_insert_threshold = -1, autovacuum_vacuum_cost_delay = 0);

-- Deliveries that wait for a later attempt, and those that a process attempts at once (due again when it dies over it).
create table webhook_retries (
  like webhook_queue including defaults,
  primary key (endpoint_id, id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 1000);
create index webhook_retries_due on webhook_retries (next_run_at);

-- Deliveries that ended, delivered or failed; partitioned by id (weekly, made ahead by a periodic job), kept 30 days.
create table webhook_deliveries (
  account_id text collate "C" not null,
  mode text not null,
  endpoint_id text collate "C" not null,
  id text collate "C" not null,
  event_id text collate "C" not null,
  event_type text not null,
  status text not null check (status in ('delivered', 'failed')),
  attempts integer not null,
  response_status integer,
  duration_ms integer,
  error text,
  error_message text,
  created_at timestamptz not null,
  -- An endpoint's id is unique by itself: a key of two texts is compared twice as quickly as one of four, and is a third smaller; one row is all that
  -- most deliveries write.
  primary key (endpoint_id, id)
) partition by range (id);
create table webhook_deliveries_default partition of webhook_deliveries default with (autovacuum_analyze_scale_factor = 1);

-- Failed deliveries, which are rare, for the list of failures.
create table webhook_failures (
  account_id text collate "C" not null,
  mode text not null,
  endpoint_id text collate "C" not null,
  id text collate "C" not null,
  primary key (account_id, mode, endpoint_id, id)
);

-- The process that posts to an endpoint: one at a time, so that there is one circuit breaker. Changes often: no index on the columns that change.
create table webhook_leases (
  endpoint_id text collate "C" primary key,
  process_id text,
  lease_until timestamptz,
  -- failed attempts in a row, across deliveries
  failures integer not null default 0
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
