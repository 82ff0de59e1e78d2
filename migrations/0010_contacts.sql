-- why: the people behind the numbers, found by every address they can be written to.
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
  -- derived by src/features/contacts/contact.ts, in lower case: what prefix searches and filters look at
  name_key text collate "C",
  last_name_key text collate "C",
  email_key text collate "C",
  -- 't:<tag>' for every tag and 'c:<channel type>:<status>' for every consent
  labels text[] collate "C" not null default '{}',
  last_seen_at timestamptz,
  last_message_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint contacts_pkey primary key (account_id, mode, id)
) with (fillfactor = 85, autovacuum_analyze_scale_factor = 0.02);
create index contacts_name on contacts (account_id, mode, name_key) where name_key is not null;
create index contacts_last_name on contacts (account_id, mode, last_name_key) where last_name_key is not null;
create index contacts_email on contacts (account_id, mode, email_key) where email_key is not null;
create index contacts_phone on contacts (account_id, mode, phone) where phone is not null;
create index contacts_external on contacts (account_id, mode, external_id) where external_id is not null;
create index contacts_labels on contacts using gin (labels);
-- a summarising index leaves updates in place (HOT)
create index contacts_updated on contacts using brin (updated_at);

-- Every address belongs to one contact. `kind` is 'phone' for channel types that write to phone numbers, else the channel
-- type; `address` is the phone's key or the identifier. Rows follow their contact; blocked is the contact's.
create table contact_addresses (
  account_id text collate "C" not null,
  mode text not null,
  kind text collate "C" not null,
  address text collate "C" not null,
  contact_id text collate "C" not null,
  blocked boolean not null default false,
  constraint contact_addresses_pkey primary key (account_id, mode, kind, address)
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

-- Counts as delta rows that a chore folds: read = sum of all rows of a key. Kinds: 'contact' (key ''), 'tag' (key: lower
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
