-- why: an operator is told that a part of a long text was taken before the others have come, so each part has to outlive the process that took it.
create table inbound_parts (
  account_id text collate "C" not null,
  mode text not null check (mode in ('live', 'test')),
  channel_id text collate "C" not null,
  sender text collate "C" not null,
  -- by which the sender joins parts of one text; used again for later ones
  reference text collate "C" not null,
  total smallint not null,
  -- [{number, text, provider_id}], each once
  parts json not null,
  -- joined: all came, and the text is stored; kept for what is told again
  status text not null check (status in ('waiting', 'joined')),
  next_run_at timestamptz not null,
  created_at timestamptz not null,
  primary key (channel_id, sender, reference, total)
);
create index inbound_parts_due on inbound_parts (next_run_at);
