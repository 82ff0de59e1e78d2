-- why: who may be written to, and the proof of it; opt-outs outlive contacts.
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
  constraint consent_changes_pkey primary key (account_id, mode, contact_id, id)
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
