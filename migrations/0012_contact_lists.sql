-- why: contact lists; membership is found from both ends.
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
