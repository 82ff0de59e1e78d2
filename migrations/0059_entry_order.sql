-- why: ids of ledger entries were made before the wallet was locked, so that under concurrency the list of transactions could show a balance before the one it came from.
-- The newest entry stands on the wallet now: whoever holds the wallet knows what its entries' ids must follow.
alter table wallets add column last_entry_id text collate "C" not null default '';

update wallets w set last_entry_id = e.id
from (select account_id, max(id) as id from ledger_entries group by account_id) e
where e.account_id = w.account_id;
