-- why: every account has a wallet from its creation, and the chores of billing find their work without scanning.
create function open_wallet() returns trigger language plpgsql as $$
begin
  insert into wallets (account_id) values (new.id);
  return null;
end $$;
create trigger accounts_open_wallet after insert on accounts for each row execute function open_wallet();
insert into wallets (account_id) select id from accounts on conflict do nothing;

-- due expiries and the notices before them; updates of credits_remaining stay HOT
create index grants_expiry on grants (expires_at) where expired_at is null;

-- one folded row a key, and deltas beside it until the next fold
alter table usage_rows add column folded boolean not null default false;
create index usage_rows_unfolded on usage_rows (account_id, mode, day, channel_type, channel_id) where not folded;
alter table usage_rows set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500, autovacuum_analyze_threshold = 500);

-- the few entries that are no charges, found among millions that are
create index ledger_entries_type on ledger_entries (account_id, type, id) where type <> 'message_charge';
