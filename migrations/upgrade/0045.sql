-- Upgrades a database whose last migration is 0045_integrations.sql to the schema of the squashed migrations (docs/decisions/squashed-migrations.md).

alter table processes rename column beat_at to heartbeat_at;
alter table installation rename column feed_held to feed_skips_unrelated;
alter table message_transitions rename column follower to projection;
alter table message_transitions rename column was to from_status;
alter table message_transitions rename column ats to times;
alter table message_retention rename column kept_from to deleted_before;
alter table dispatch_jobs rename column doubtful to outcome_unknown;
alter table contact_import_pieces rename to contact_import_chunks;
alter index contact_import_pieces_pkey rename to contact_import_chunks_pkey;

alter table dispatch_jobs rename column due_at to next_run_at;
alter table inbound_parts rename column due_at to next_run_at;
alter table provider_reports rename column due_at to next_run_at;
alter table provider_reports rename column report to item;
alter table provider_reports rename to callback_items;
alter index provider_reports_pkey rename to callback_items_pkey;
alter index provider_reports_channel rename to callback_items_channel;
alter table media_files rename column due_at to next_run_at;
alter table campaign_jobs rename column due_at to next_run_at;
alter table automation_runs rename column due_at to next_run_at;
alter table webhook_queue rename column due_at to next_run_at;
alter table webhook_retries rename column due_at to next_run_at;
alter table email_queue rename column due_at to next_run_at;
alter table email_queue rename column until to expires_at;
alter table contact_imports rename column chosen to mapping;
alter table automation_events rename column once_key to dedup_key;
alter table automation_events rename column freed_once_key to freed_dedup_key;
alter index automation_events_once_key rename to automation_events_dedup_key;
alter table channels rename column link_tried_at to connection_tested_at;
alter table channels rename column templates_due_at to templates_refresh_at;
alter index channels_templates_due rename to channels_templates_refresh;

-- protected the request log from processes of an older version; those are stopped now
drop rule request_log_kept on request_log;

-- An index for each combination of filters of the request log and of the event feed. Primary keys are made last, as in the squashed migrations.
alter table request_log add column count integer not null default 1;
alter table request_log drop constraint request_log_pkey;
create index request_log_refused on request_log (account_id, mode, (status >= 400), id);
create index request_log_method on request_log (account_id, mode, method, (status >= 400), id);
create index request_log_code on request_log (account_id, mode, code, id) where status >= 400;
create index request_log_code_method on request_log (account_id, mode, code, method, id) where status >= 400;
alter table request_log add primary key (account_id, mode, id);
create table request_log_sizes (
  account_id text collate "C" not null,
  day date not null,
  bytes bigint not null,
  primary key (account_id, day)
);
insert into request_log_sizes (account_id, day, bytes)
select account_id, (created_at at time zone 'UTC')::date,
  sum(600 + octet_length(path) + octet_length(coalesce(operation, '')) + 3 * octet_length(coalesce(code, '')))
from request_log
group by 1, 2;
drop index events_rare_types;
drop index events_object;
alter table events drop constraint events_pkey;
create index events_type on events (account_id, mode, type, position, id);
create index events_object on events (object_id, position, id);
alter table events add primary key (account_id, mode, id);

-- The files of an account are bounded by bytes.
create index media_files_stored on media_files (account_id, status) include (bytes) where status in ('copied', 'uploading');

-- Claims are bounded by bytes.
alter table dispatch_jobs
  add column bytes integer not null default 0,
  add column unreadable smallint not null default 0;
update dispatch_jobs j set bytes = octet_length(m.content::text) + octet_length(m.metadata::text)
from messages m
where m.account_id = j.account_id and m.mode = j.mode and m.id = j.message_id;
alter table callback_items add column bytes integer not null default 0;
update callback_items set bytes = octet_length(item::text);

-- Ledger entries are ordered by a sequence per account instead of their ids.
alter table ledger_entries add column sequence bigint;
update ledger_entries e set sequence = n.sequence
from (select account_id, id, row_number() over (partition by account_id order by id) as sequence from ledger_entries) n
where n.account_id = e.account_id and n.id = e.id;
alter table ledger_entries alter column sequence set not null;
drop index ledger_entries_type;
create unique index ledger_entries_sequence on ledger_entries (account_id, sequence);
create index ledger_entries_type on ledger_entries (account_id, type, sequence) where type <> 'message_charge';
alter table wallets
  add column last_sequence bigint not null default 0,
  add column last_entry_at timestamptz;
update wallets w set last_sequence = l.sequence, last_entry_at = l.created_at
from (select account_id, max(sequence) as sequence, max(created_at) as created_at from ledger_entries group by account_id) l
where l.account_id = w.account_id;
alter table wallets drop column last_entry_id;

-- Signing in: addresses to confirm, failures by origin, limited actions. Locks of the version before are lifted.
alter table users add column pending_email text collate "C";
alter table user_tokens drop constraint user_tokens_kind_check;
alter table user_tokens add constraint user_tokens_kind_check check (kind in ('setup', 'reset', 'email'));
create index user_tokens_user on user_tokens (user_id, kind);
drop table sign_in_failures;
create table sign_in_failures (
  email_hash text not null,
  origin text not null,
  failed_at timestamptz[] not null,
  locked_until timestamptz,
  at timestamptz not null,
  primary key (email_hash, origin)
);
create index sign_in_failures_age on sign_in_failures (at);
create table limited_actions (
  kind text not null,
  subject_hash text not null,
  times timestamptz[] not null,
  at timestamptz not null,
  primary key (kind, subject_hash)
);
create index limited_actions_age on limited_actions (at);

-- Items of provider callbacks that are stored and not applied yet: their kinds have new names.
update callback_items set item = jsonb_set(item::jsonb, '{kind}', case item ->> 'kind' when 'receipt' then '"delivery_receipt"' else '"connection_status"' end::jsonb)::json
where item ->> 'kind' in ('receipt', 'link');

-- Deliveries that stopped processes held in memory become due deliveries of the queue, which all deliveries go through now.
insert into webhook_queue (endpoint_id, id, account_id, mode, event_id, event_type, next_run_at, created_at)
select d.endpoint_id, d.id, e.account_id, e.mode, d.event_id, d.event_type, h.created_at, h.created_at
from webhook_handoffs h
cross join lateral webhook_handoff_deliveries(h.endpoints, h.deliveries) d
join webhook_endpoints e on e.id = d.endpoint_id
where d.endpoint_id <> all (h.dropped)
  and not exists (select 1 from webhook_deliveries w where w.endpoint_id = d.endpoint_id and w.id = d.id)
  and not exists (select 1 from webhook_retries r where r.endpoint_id = d.endpoint_id and r.id = d.id)
on conflict do nothing;
drop table webhook_handoffs;
drop table webhook_handoff_counts;

-- Functions of webhooks are made anew: the result columns of one have changed, which `create or replace` refuses.
do $$
declare
  shape text;
begin
  for shape in
    select p.oid::regprocedure::text from pg_proc p
    join schema_functions f on f.name = p.proname
    where p.pronamespace = current_schema()::regnamespace and starts_with(f.name, 'webhook_')
  loop
    execute 'drop function ' || shape;
  end loop;
end $$;

-- Functions of segment rules are created again, because `create or replace` cannot rename a parameter.
drop function rule_time(text);
drop function rule_time_of(text);
drop function rule_text(text);
do $$
begin
  execute 'create function rule_text(value text) returns text language sql immutable parallel safe return ' || case
    when current_setting('server_version_num')::int >= 180000 and getdatabaseencoding() = 'UTF8'
      then 'lower(value collate "pg_unicode_fast")'
    else 'case when octet_length(value) = length(value) then lower(value collate "C") collate "und-x-icu" else lower(value collate "und-x-icu") end'
  end;
end
$$;
create function rule_time_of(value text) returns text language sql stable parallel safe
  return case
    when value ~ '^(?!9999)[1-9]\d{3}-\d\d-\d\d[Tt]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?([Zz]|[+-](0\d|1[0-4]):?[0-5]\d)?$'
      and pg_input_is_valid(value, 'timestamp')
    then to_char(case
      when value ~ '([Zz]|[Tt].*[+-]\d\d:?\d\d)$' then value::timestamptz at time zone 'UTC'
      else value::timestamp
    end, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
  end;
create function rule_time(value text) returns text language sql stable parallel safe
  return case
    when value like '____-__-__T__:__:__Z' and value collate "C" < ':' then left(value, 19) || '.000Z'
    when value like '____-__-__T__:__:__.___Z' and value collate "C" < ':' then value
    when value like '____-__-__T%' or value like '____-__-__t%' then rule_time_of(value)
  end;
