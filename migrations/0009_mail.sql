-- why: e-mails to owners and people of the console, and the queue of those to be sent.
-- E-mails to account owners, kept whether or not they could be sent.
create table emails (
  id bigint generated always as identity primary key,
  -- null: an e-mail to a person, who belongs to no account
  account_id text collate "C",
  -- null: the account has no owner's address
  recipient text,
  subject text not null,
  body text not null,
  attempts integer not null default 0,
  error text,
  sent_at timestamptz,
  created_at timestamptz not null
);
-- Those still to be sent; removed when sent or given up.
create table email_queue (
  email_id bigint primary key,
  next_run_at timestamptz not null,
  -- replaces {link} when it is sent, encrypted: the stored e-mail has none
  link text,
  expires_at timestamptz not null
);
