-- why: the people behind the numbers, found by every address they can be written to; who may be written to, and the proof of it; lists, segments, imports.

-- A number for account and mode: leading an index it costs a third of what the two texts do. Two tenants may share one.
create function tenant_number(account_id text, mode text) returns integer language sql immutable parallel safe return hashtext((account_id || mode) collate "C");

create table contacts (
  account_id text collate "C" not null,
  mode text not null check (mode in ('live', 'test')),
  id text collate "C" not null,
  -- E.164 as the caller wrote it; phone_key is the one form that all national variants of the number share
  phone text collate "C",
  phone_key text collate "C",
  email text,
  first_name text,
  last_name text,
  full_name text generated always as (coalesce(first_name || ' ' || last_name, first_name, last_name)) stored,
  locale text,
  timezone text,
  country text,
  external_id text collate "C",
  -- channel type -> identifier, for kinds without phone numbers
  identifiers jsonb not null default '{}',
  tags text[] not null default '{}',
  attributes jsonb not null default '{}',
  metadata json not null default '{}',
  -- channel type -> {status, source, updated_at, marketing?}
  consent jsonb not null default '{}',
  blocked boolean not null default false,
  -- derived by src/modules/contacts/contact.ts, in lower case: what prefix searches and filters look at
  name_key text collate "C",
  last_name_key text collate "C",
  email_key text collate "C",
  -- 't:<tag>' for every tag and 'c:<channel type>:<status>' for every consent
  labels text[] collate "C" not null default '{}',
  last_seen_at timestamptz,
  last_message_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  tenant integer not null generated always as (tenant_number(account_id, mode)) stored,
  constraint contacts_pkey primary key (account_id, mode, id)
) with (fillfactor = 85, autovacuum_analyze_scale_factor = 0.02);
create index contacts_labels on contacts using gin (labels);
-- a summarising index leaves updates in place (HOT)
create index contacts_updated on contacts using brin (updated_at);
-- most of what an imported contact costs is the upkeep of its indexes: small ones, found by what differs most
create index contacts_name on contacts (tenant, name_key) where name_key is not null;
create index contacts_last_name on contacts (tenant, last_name_key) where last_name_key is not null;
create index contacts_email on contacts (tenant, email_key) where email_key is not null;
create index contacts_phone on contacts (tenant, phone) where phone is not null;
create index contacts_external on contacts (tenant, external_id) where external_id is not null;

-- Every address belongs to one contact. `kind` is 'phone' for channel types that write to phone numbers, else the channel
-- type; `address` is the phone's key or the identifier. Rows follow their contact; blocked is the contact's. The key begins with what differs most.
create table contact_addresses (
  account_id text collate "C" not null,
  mode text not null,
  kind text collate "C" not null,
  address text collate "C" not null,
  contact_id text collate "C" not null,
  blocked boolean not null default false,
  constraint contact_addresses_pkey primary key (address, kind, account_id, mode)
) with (fillfactor = 90);

-- Attributes that some contact was saved with: defined for good, with the type of the first value.
create table contact_attributes (
  account_id text collate "C" not null,
  mode text not null,
  key text collate "C" not null,
  type text not null check (type in ('string', 'number', 'boolean')),
  created_at timestamptz not null,
  constraint contact_attributes_pkey primary key (account_id, mode, key)
);

-- Counts as delta rows that a periodic job folds: read = sum of all rows of a key. Kinds: 'contact' (key ''), 'tag' (key: lower
-- case; name: a spelling), 'attribute' (name: the value's type), 'list' (key: its id).
create table contact_counters (
  account_id text collate "C" not null,
  mode text not null,
  kind text collate "C" not null,
  key text collate "C" not null,
  name text not null default '',
  delta bigint not null
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
create index contact_counters_key on contact_counters (account_id, mode, kind, key);

-- Opt-outs outlive contacts.
create table suppressions (
  account_id text collate "C" not null,
  mode text not null,
  -- '<type>.marketing' where only marketing was stopped
  channel_type text collate "C" not null,
  -- keyed hash of account, mode, channel type and address: the number itself is not kept
  address_hash text collate "C" not null,
  -- where it came from: a consent source ('keyword', 'api', 'provider', …)
  reason text not null,
  message_id text collate "C",
  request_id text collate "C",
  created_at timestamptz not null,
  constraint suppressions_pkey primary key (account_id, mode, channel_type, address_hash)
);

-- Every change of a consent, for good while the contact lives.
create table consent_changes (
  account_id text collate "C" not null,
  mode text not null,
  contact_id text collate "C" not null,
  id text collate "C" not null,
  channel_type text collate "C" not null,
  status text not null check (status in ('opted_in', 'opted_out', 'unknown')),
  source text not null,
  message_id text collate "C",
  request_id text collate "C",
  occurred_at timestamptz not null,
  created_at timestamptz not null,
  -- ids of contacts are nobody else's
  constraint consent_changes_pkey primary key (contact_id, id)
);

-- Until when free-form messages may go to a recipient of a channel: 24 hours from the last inbound one.
create table service_windows (
  account_id text collate "C" not null,
  mode text not null,
  -- as in contact_addresses
  address text collate "C" not null,
  channel_id text collate "C" not null,
  expires_at timestamptz not null,
  constraint service_windows_pkey primary key (account_id, mode, address, channel_id)
) with (fillfactor = 70);

-- Contact lists; membership is found from both ends.
create table contact_lists (
  account_id text collate "C" not null,
  mode text not null check (mode in ('live', 'test')),
  id text collate "C" not null,
  name text not null,
  description text not null default '',
  metadata json not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint contact_lists_pkey primary key (account_id, mode, id)
);

create table contact_list_members (
  account_id text collate "C" not null,
  mode text not null,
  list_id text collate "C" not null,
  contact_id text collate "C" not null,
  created_at timestamptz not null,
  constraint contact_list_members_pkey primary key (account_id, mode, list_id, contact_id)
);
create index contact_list_members_contact on contact_list_members (account_id, mode, contact_id, list_id);

-- Tags keep the spelling they were first written in.
create table contact_tags (
  account_id text collate "C" not null,
  mode text not null,
  -- in lower case
  key text collate "C" not null,
  name text not null,
  constraint contact_tags_pkey primary key (account_id, mode, key)
);

-- Ids of deleted contacts, lists and segments: a cursor that names one still works. Nothing but the id is kept.
create table contact_tombstones (
  account_id text collate "C" not null,
  mode text not null,
  id text collate "C" not null,
  -- a deleted list whose member rows are still being taken away, a chunk at a time
  members_left boolean not null default false,
  constraint contact_tombstones_pkey primary key (account_id, mode, id)
);
create index contact_tombstones_left on contact_tombstones (id) where members_left;

-- Segments, and the times that their rules find in attributes.
create table segments (
  account_id text collate "C" not null,
  mode text not null check (mode in ('live', 'test')),
  id text collate "C" not null,
  name text not null,
  description text not null default '',
  rules json not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint segments_pkey primary key (account_id, mode, id)
);

-- Lower case of a text for segment rules, like `toLowerCase` in JavaScript and independent of the database's collation. Before PostgreSQL 18 it uses ICU's root
-- locale; for ASCII (as many bytes as characters in UTF-8) the locale C gives the same in half of the time.
do $$
begin
  execute 'create function rule_text(value text) returns text language sql immutable parallel safe return ' || case
    when current_setting('server_version_num')::int >= 180000 and getdatabaseencoding() = 'UTF8'
      then 'lower(value collate "pg_unicode_fast")'
    else 'case when octet_length(value) = length(value) then lower(value collate "C") collate "und-x-icu" else lower(value collate "und-x-icu") end'
  end;
end
$$;

-- A text as ISO 8601 in UTC with milliseconds, or null if it is not a time. Without a zone it is UTC.
create function rule_time_of(value text) returns text language sql stable parallel safe
  return case
    when value ~ '^(?!9999)[1-9]\d{3}-\d\d-\d\d[Tt]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?([Zz]|[+-](0\d|1[0-4]):?[0-5]\d)?$'
      and pg_input_is_valid(value, 'timestamp')
    then to_char(case
      when value ~ '([Zz]|[Tt].*[+-]\d\d:?\d\d)$' then value::timestamptz at time zone 'UTC'
      else value::timestamp
    end, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
  end;

-- The same for attributes, where a date alone is not a time. A UTC time in its usual form is returned unchanged: parsing a million times takes seven seconds,
-- this takes one. src/modules/contacts/segments/fields.ts parses the same texts.
create function rule_time(value text) returns text language sql stable parallel safe
  return case
    when value like '____-__-__T__:__:__Z' and value collate "C" < ':' then left(value, 19) || '.000Z'
    when value like '____-__-__T__:__:__.___Z' and value collate "C" < ':' then value
    when value like '____-__-__T%' or value like '____-__-__t%' then rule_time_of(value)
  end;

-- CSV imports in the background: the remaining work is stored in chunks, so any process can continue where another one died.
create table contact_imports (
  account_id text collate "C" not null,
  mode text not null check (mode in ('live', 'test')),
  id text collate "C" not null,
  -- 'uploading' is not shown: the file is still coming in. 'draft', 'checked' and 'cancelled' occur in the console only; the counts of a checked import are those expected of its start.
  status text not null check (status in ('uploading', 'draft', 'checked', 'cancelled', 'pending', 'running', 'completed', 'failed')),
  file_name text,
  -- the request that brought the file: proof of the consents in it
  request_id text collate "C" not null,
  consent_declared boolean not null,
  default_country text,
  delimiter text not null default ',',
  -- of the file; and the field that each of its columns is, null where it is left out
  header json not null default '[]',
  columns json not null default '[]',
  bytes bigint not null default 0,
  total bigint not null default 0,
  created bigint not null default 0,
  updated bigint not null default 0,
  rejected bigint not null default 0,
  -- rows that were applied without some of their cells
  warnings bigint not null default 0,
  error json,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  started_at timestamptz,
  completed_at timestamptz,
  -- of a draft: how its columns are to be read, by their headers
  mapping json not null default '{}',
  constraint contact_imports_pkey primary key (account_id, mode, id)
) with (fillfactor = 70);

-- Imports with rows left, and the process that works on each.
create table contact_import_jobs (
  account_id text collate "C" not null,
  mode text not null,
  import_id text collate "C" primary key,
  process_id text collate "C",
  lease_until timestamptz,
  -- whose turn it is: the one that was worked on longest ago
  worked_at timestamptz not null,
  -- turns that failed in a row
  failures integer not null default 0
);

-- Whole records of the file, deleted in the transaction that applies them.
create table contact_import_chunks (
  import_id text collate "C" not null,
  number integer not null,
  first_row integer not null,
  rows integer not null,
  body text not null,
  constraint contact_import_chunks_pkey primary key (import_id, number)
);
-- written once, read once: not worth compressing
alter table contact_import_chunks alter column body set storage external;

-- Rows that were not applied, or not wholly. The keys let a contact's deletion find them.
create table contact_import_errors (
  account_id text collate "C" not null,
  mode text not null,
  import_id text collate "C" not null,
  row integer not null,
  applied boolean not null,
  reason text not null,
  cells json not null,
  phone_key text collate "C",
  email_key text collate "C",
  created_at timestamptz not null,
  constraint contact_import_errors_pkey primary key (account_id, mode, import_id, row)
);
create index contact_import_errors_phone on contact_import_errors (account_id, mode, phone_key) where phone_key is not null;
create index contact_import_errors_email on contact_import_errors (account_id, mode, email_key) where email_key is not null;
