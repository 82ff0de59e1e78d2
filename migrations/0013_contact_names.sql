-- why: tags keep the spelling they were first written in, and cursors outlive what they point at.
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
