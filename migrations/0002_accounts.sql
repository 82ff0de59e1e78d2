-- why: accounts and their API keys.
create table accounts (
  id text collate "C" primary key,
  name text not null,
  owner_email text,
  timezone text not null default 'UTC',
  suspended_at timestamptz,
  created_at timestamptz not null,
  -- messages that waited while the account was suspended are not sent after it is reinstated
  reinstated_at timestamptz,
  -- the country of numbers that are written without a country code
  default_country text
);

create table api_keys (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts (id),
  mode text not null check (mode in ('live', 'test')),
  name text not null,
  -- SHA-256 of the whole key, hex; the key itself is never stored
  hash text collate "C" not null constraint api_keys_hash_unique unique,
  last_four text not null,
  scopes text[] not null,
  ip_allowlist text[] not null default '{}',
  expires_at timestamptz,
  revoked_at timestamptz,
  created_at timestamptz not null
);
create index api_keys_account on api_keys (account_id, id);
