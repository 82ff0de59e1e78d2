-- why: called within the statement that reads the feed, on that statement's snapshot (docs/decisions/feed-horizon.md).

-- The oldest running transaction that is not unrelated, or the first one that had not begun, at the snapshot of the calling statement. On a standby the snapshot's
-- xmin, because sessions are unknown.
create or replace function feed_attributed_xmin() returns bigint language plpgsql stable as $$
begin
  if pg_is_in_recovery() then return pg_snapshot_xmin(pg_current_snapshot())::text::bigint; end if;
  return least(
    (select min(xid::text::bigint) from feed_running_transactions() where not unrelated),
    pg_current_xact_id_if_assigned()::text::bigint,
    pg_snapshot_xmax(pg_current_snapshot())::text::bigint);
end $$;
