-- why: CSV imports in the background: what is left to do lies in pieces that any process can take up where another one died.
create table contact_imports (
  account_id text collate "C" not null,
  mode text not null check (mode in ('live', 'test')),
  id text collate "C" not null,
  -- 'uploading' is not shown: the file is still coming in
  status text not null check (status in ('uploading', 'pending', 'running', 'completed', 'failed')),
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
create table contact_import_pieces (
  import_id text collate "C" not null,
  number integer not null,
  first_row integer not null,
  rows integer not null,
  body text not null,
  constraint contact_import_pieces_pkey primary key (import_id, number)
);
-- written once, read once: not worth compressing
alter table contact_import_pieces alter column body set storage external;

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
