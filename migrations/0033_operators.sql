-- why: people sign in to the console. Whatever proves who somebody is, is kept as a hash.
create table users (
  id text collate "C" primary key,
  -- lower case
  email text collate "C" not null,
  name text not null,
  -- argon2id; null for somebody who signs in by another way alone
  password_hash text,
  -- of the platform
  admin boolean not null default false,
  created_at timestamptz not null
);
create unique index users_email on users (email);

create table memberships (
  account_id text collate "C" not null references accounts (id),
  user_id text collate "C" not null references users (id),
  role text not null check (role in ('owner', 'admin', 'developer', 'marketer', 'agent', 'finance', 'viewer')),
  created_at timestamptz not null,
  primary key (account_id, user_id)
);
create index memberships_user on memberships (user_id);

create table sessions (
  id text collate "C" primary key,
  user_id text collate "C" not null references users (id),
  -- SHA-256 of the cookie
  token_hash text not null,
  -- whether password and second factor were given, and when last
  authenticated_at timestamptz not null,
  seen_at timestamptz not null,
  address text not null,
  user_agent text not null,
  created_at timestamptz not null
);
create unique index sessions_token on sessions (token_hash);
create index sessions_user on sessions (user_id);

-- Failures in a row to sign in, by the hash of the e-mail address, known or not.
create table sign_in_failures (
  email_hash text primary key,
  failures integer not null,
  locked_until timestamptz,
  at timestamptz not null
);

-- Links of one use.
create table user_tokens (
  token_hash text primary key,
  kind text not null check (kind in ('setup', 'reset')),
  -- null: of the first owner, who is not there yet
  user_id text collate "C" references users (id),
  expires_at timestamptz not null,
  created_at timestamptz not null
);

-- What was changed, by whom. Nothing in it is ever changed.
create table audit_entries (
  account_id text collate "C" not null,
  id text collate "C" not null,
  actor_type text not null check (actor_type in ('user', 'api_key', 'command')),
  actor_id text collate "C" not null,
  -- who acted in the actor's place
  impersonator_id text collate "C",
  action text not null,
  object_id text collate "C",
  -- names of fields, and what they are now; secrets masked
  changes json not null,
  address text,
  request_id text collate "C",
  created_at timestamptz not null,
  primary key (account_id, id)
);
create index audit_entries_object on audit_entries (account_id, object_id, id);
