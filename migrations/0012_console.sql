-- why: the console: its people, their sessions and rights, the audit log, the request log, and the inbox. Proofs of identity are stored as hashes.
create table users (
  id text collate "C" primary key,
  -- lower case
  email text collate "C" not null,
  name text not null,
  -- argon2id; null for somebody who signs in by another way alone
  password_hash text,
  -- of the platform
  admin boolean not null default false,
  created_at timestamptz not null,
  -- secret of the authenticator app, sealed; and one that waits for its first code
  second_factor text,
  second_factor_pending text,
  second_factor_at timestamptz,
  -- the latest 30 seconds whose code was used
  second_factor_step integer,
  -- keyed hashes
  recovery_codes text[] not null default '{}',
  -- asked for, and not confirmed by a link yet: nobody signs in or is found by it
  pending_email text collate "C"
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
  created_at timestamptz not null,
  -- an identity of the OIDC provider that waits to be linked
  pending_identity json,
  pending_until timestamptz,
  -- for which account an administrator of the platform acts
  impersonated_account_id text collate "C" references accounts (id),
  -- in whose place: who has owned it longest
  impersonated_user_id text collate "C",
  impersonation_reason text,
  impersonation_until timestamptz
);
create unique index sessions_token on sessions (token_hash);
create index sessions_user on sessions (user_id);

-- Failures to sign in, by the hash of the e-mail address, known or not, and by their origin.
create table sign_in_failures (
  email_hash text not null,
  -- IPv4 address or IPv6 /64 of the client; the id of a session that asked for the password again; '' for all clients together
  origin text not null,
  failed_at timestamptz[] not null,
  locked_until timestamptz,
  at timestamptz not null,
  primary key (email_hash, origin)
);
create index sign_in_failures_age on sign_in_failures (at);

-- Times of actions that are limited per hour or day, such as e-mails that anybody may ask for.
create table limited_actions (
  kind text not null,
  -- SHA-256 of the person, account or address
  subject_hash text not null,
  times timestamptz[] not null,
  at timestamptz not null,
  primary key (kind, subject_hash)
);
create index limited_actions_age on limited_actions (at);

-- Links of one use.
create table user_tokens (
  token_hash text primary key,
  -- email: confirms the pending address
  kind text not null check (kind in ('setup', 'reset', 'email')),
  -- null: of the first owner, who is not there yet
  user_id text collate "C" references users (id),
  expires_at timestamptz not null,
  created_at timestamptz not null
);
create index user_tokens_user on user_tokens (user_id, kind);

-- With which people sign in at the OIDC provider.
create table identities (
  id text collate "C" primary key,
  user_id text collate "C" not null references users (id),
  issuer text not null,
  subject text not null,
  -- as the provider told it when it was linked; nobody is found by it
  email text,
  created_at timestamptz not null
);
create unique index identities_subject on identities (issuer, subject);
create index identities_user on identities (user_id);

create table invitations (
  account_id text collate "C" not null references accounts (id),
  id text collate "C" not null,
  email text collate "C" not null,
  role text not null check (role in ('owner', 'admin', 'developer', 'marketer', 'agent', 'finance', 'viewer')),
  token_hash text not null,
  invited_by text collate "C" not null references users (id),
  -- null: there was no mail server, and the inviter was given the link
  email_id bigint,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  primary key (account_id, id)
);
create unique index invitations_token on invitations (token_hash);
create unique index invitations_email on invitations (account_id, email);

-- The audit log: changes and who made them. Rows are never updated.
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
create index audit_entries_actor on audit_entries (account_id, actor_id, id);
create index audit_entries_impersonator on audit_entries (account_id, impersonator_id, id) where impersonator_id is not null;
create index audit_entries_age on audit_entries (created_at);

-- Refusals and changes, without bodies, partitioned by day and stored for seven days: who integrates looks up how a request was answered.
create table request_log (
  account_id text collate "C" not null,
  mode text not null check (mode in ('live', 'test')),
  id text collate "C" not null,
  method text not null,
  -- without its query
  path text not null,
  -- null for a path that names none
  operation text,
  status integer not null,
  code text,
  -- with which it came; null where somebody signed in to the console sent it
  key_id text collate "C",
  user_id text collate "C",
  duration_ms integer not null,
  created_at timestamptz not null,
  -- requests that the row stands for: more than one for refusals beyond twenty a second and key
  count integer not null default 1
) partition by range (id);
create table request_log_default partition of request_log default with (autovacuum_analyze_scale_factor = 1);
-- one index for each combination of filters (src/modules/console/request-log/repository.ts)
create index request_log_refused on request_log (account_id, mode, (status >= 400), id);
create index request_log_method on request_log (account_id, mode, method, (status >= 400), id);
create index request_log_code on request_log (account_id, mode, code, id) where status >= 400;
create index request_log_code_method on request_log (account_id, mode, code, method, id) where status >= 400;
-- last, as on events
alter table request_log add primary key (account_id, mode, id);

-- Size of an account's rows in the request log by the UTC day of their creation: beyond a limit the oldest rows go.
create table request_log_sizes (
  account_id text collate "C" not null,
  day date not null,
  bytes bigint not null,
  primary key (account_id, day)
);

-- The inbox: a conversation is one person on one channel, changed by inbound messages only. Its id is made of that of its first message.
create table conversations (
  account_id text collate "C" not null,
  mode text not null,
  id text collate "C" not null,
  channel_id text collate "C" not null,
  -- who wrote, as on messages
  identifier text collate "C" not null,
  contact_id text collate "C",
  status text not null check (status in ('open', 'done')),
  -- a user
  assignee text collate "C",
  read boolean not null,
  -- null: on this channel nobody has to have written before
  window_expires_at timestamptz,
  last_message_at timestamptz not null,
  last_message_id text collate "C" not null,
  primary key (account_id, mode, id)
);
create unique index conversations_identifier on conversations (account_id, mode, channel_id, identifier);
create index conversations_newest on conversations (account_id, mode, last_message_id);
create index conversations_status on conversations (account_id, mode, status, last_message_id);
create index conversations_assignee on conversations (account_id, mode, assignee, status, last_message_id) where assignee is not null;
create index conversations_contact on conversations (account_id, mode, contact_id) where contact_id is not null;

-- The inbound messages of each conversation, because messages have no index by sender.
create table conversation_messages (
  account_id text collate "C" not null,
  mode text not null,
  conversation_id text collate "C" not null,
  message_id text collate "C" not null,
  primary key (account_id, mode, conversation_id, message_id)
);
