-- why: who integrates looks up what a request was answered. Refusals and changes alone, without bodies, for seven days.
create table request_log (
  account_id text collate "C" not null,
  mode text not null check (mode in ('live', 'test')),
  id text collate "C" not null,
  method text not null,
  -- without its query
  path text not null,
  -- null for a path that names none
  operation text,
  status integer not null,
  code text,
  -- with which it came; null where somebody signed in to the console sent it
  key_id text collate "C",
  user_id text collate "C",
  duration_ms integer not null,
  created_at timestamptz not null,
  primary key (account_id, mode, id)
);
create index request_log_age on request_log (created_at);
