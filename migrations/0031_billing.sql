-- why: owners pay money into their wallet by themselves; what was begun at the payment provider is known here before anything is credited for it.
create table top_ups (
  account_id text collate "C" not null references accounts (id),
  id text collate "C" not null,
  amount_micros bigint not null check (amount_micros > 0),
  status text not null check (status in ('open', 'paid', 'expired')),
  -- the payment provider's id of the page on which it is paid
  checkout_id text collate "C" not null,
  url text not null,
  -- who began it
  user_id text collate "C" not null,
  created_at timestamptz not null,
  -- when it was paid or expired
  ended_at timestamptz,
  primary key (account_id, id)
);
create unique index top_ups_checkout on top_ups (checkout_id);

alter table ledger_entries add column top_up_id text collate "C", add column payment_reference text;
-- a top-up is credited once, whatever happens
create unique index ledger_entries_top_up on ledger_entries (top_up_id) where top_up_id is not null;
