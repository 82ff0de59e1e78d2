-- why: a platform that has a customer redacted is answered at once, however much its source has reported; the rest is done from here.

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
