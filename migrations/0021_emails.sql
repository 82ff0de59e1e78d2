-- why: e-mails to account owners, kept whether or not they could be sent.
create table emails (
  id bigint generated always as identity primary key,
  account_id text collate "C" not null,
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
  due_at timestamptz not null
);
