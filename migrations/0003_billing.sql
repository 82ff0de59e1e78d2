-- why: money. Wallet and grant balances are the sums of the append-only ledger, kept in its transactions.
create table prices (
  -- '' is the default of every account
  account_id text collate "C" not null default '',
  channel_type text not null,
  amount_micros bigint not null check (amount_micros >= 0),
  updated_at timestamptz not null,
  primary key (account_id, channel_type)
);

create table wallets (
  account_id text collate "C" primary key references accounts (id),
  balance_micros bigint not null default 0 check (balance_micros >= 0),
  low_balance_micros bigint not null default 1000000 check (low_balance_micros >= 0),
  -- when balance.low was last emitted
  low_balance_at timestamptz,
  -- sequence number and time of the newest ledger entry
  last_sequence bigint not null default 0,
  last_entry_at timestamptz
) with (fillfactor = 50);

-- Every account has a wallet from its creation, and accounts know nothing of billing.
create function open_wallet() returns trigger language plpgsql as $$
begin
  insert into wallets (account_id) values (new.id);
  return null;
end $$;
create trigger accounts_open_wallet after insert on accounts for each row execute function open_wallet();

create table grants (
  account_id text collate "C" not null references accounts (id),
  id text collate "C" not null,
  name text not null,
  -- empty: every channel type
  channel_types text[] not null default '{}',
  credits_total bigint not null check (credits_total > 0),
  credits_remaining bigint not null check (credits_remaining >= 0 and credits_remaining <= credits_total),
  expires_at timestamptz,
  exhausted_at timestamptz,
  -- set once what was left has been written off
  expired_at timestamptz,
  expiring_notified_at timestamptz,
  created_at timestamptz not null,
  primary key (account_id, id)
) with (fillfactor = 50);
-- due expiries and the notices before them, found without scanning; updates of credits_remaining stay HOT
create index grants_expiry on grants (expires_at) where expired_at is null;

-- A row moves `amount` of one unit from the account `debit` to the account `credit`: double entry by construction.
-- Accounts: wallet, grant:<id> (the tenant's); funding, usage, expiry, issued (the other side).
create table ledger_entries (
  account_id text collate "C" not null,
  id text collate "C" not null,
  type text not null check (type in ('top_up', 'message_charge', 'message_refund', 'package_grant', 'package_expiry', 'adjustment')),
  unit text not null check (unit in ('usd_micros', 'credits')),
  debit text not null,
  credit text not null,
  amount bigint not null check (amount > 0),
  package_grant_id text collate "C",
  message_id text collate "C",
  note text,
  balance_after_micros bigint not null,
  created_at timestamptz not null,
  top_up_id text collate "C",
  payment_reference text,
  -- the order in which the account's entries moved its wallet; there may be gaps
  sequence bigint not null,
  primary key (account_id, id),
  check (debit <> credit)
) with (autovacuum_analyze_scale_factor = 1);
-- a message is charged once and refunded once, whatever happens
create unique index ledger_entries_message on ledger_entries (message_id, type) where message_id is not null;
-- a top-up is credited once, whatever happens
create unique index ledger_entries_top_up on ledger_entries (top_up_id) where top_up_id is not null;
create unique index ledger_entries_sequence on ledger_entries (account_id, sequence);
-- finds the few entries that are not charges
create index ledger_entries_type on ledger_entries (account_id, type, sequence) where type <> 'message_charge';

-- Usage of a day, as deltas that a periodic job folds: read = sum of all rows of a key.
create table usage_rows (
  account_id text collate "C" not null,
  mode text not null,
  day date not null,
  channel_type text not null,
  channel_id text collate "C" not null,
  messages bigint not null default 0,
  package_credits bigint not null default 0,
  wallet_micros bigint not null default 0,
  refunded_credits bigint not null default 0,
  refunded_micros bigint not null default 0,
  -- one folded row a key, and deltas beside it until the next fold
  folded boolean not null default false
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500, autovacuum_analyze_threshold = 500);
create index usage_rows_key on usage_rows (account_id, mode, day);
create index usage_rows_unfolded on usage_rows (account_id, mode, day, channel_type, channel_id) where not folded;

-- Payments into the wallet, begun by owners at the payment provider. A row exists before anything is credited for it.
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
