-- why: people get a second factor, links by e-mail, colleagues and another way to sign in, and administrators of the platform act for an account.
alter table users
  -- secret of the authenticator app, sealed; and one that waits for its first code
  add column second_factor text,
  add column second_factor_pending text,
  add column second_factor_at timestamptz,
  -- the latest 30 seconds whose code was used
  add column second_factor_step integer,
  -- keyed hashes
  add column recovery_codes text[] not null default '{}';

alter table sessions
  -- an identity of the OIDC provider that waits to be linked
  add column pending_identity json,
  add column pending_until timestamptz,
  -- for which account an administrator of the platform acts
  add column impersonated_account_id text collate "C" references accounts (id),
  -- in whose place: who has owned it longest
  add column impersonated_user_id text collate "C",
  add column impersonation_reason text,
  add column impersonation_until timestamptz;

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

-- e-mails to people are of no account
alter table emails alter column account_id drop not null;
alter table email_queue
  -- what takes the place of {link} when it is sent, sealed: the e-mail as it is kept has none
  add column link text,
  -- when nobody tries any longer
  add column until timestamptz;
update email_queue set until = next_run_at + interval '1 day';
alter table email_queue alter column until set not null;
