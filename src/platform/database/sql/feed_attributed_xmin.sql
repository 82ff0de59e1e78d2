-- why: it is asked within the statement that reads the feed, of that statement's snapshot (docs/decisions/feed-horizon.md).

-- Of the calling statement's snapshot: the oldest running transaction that is no bystander, or the first that had not begun. A standby's snapshot does not tell who runs.
create or replace function feed_attributed_xmin() returns bigint language plpgsql stable as $$
begin
  if pg_is_in_recovery() then return pg_snapshot_xmin(pg_current_snapshot())::text::bigint; end if;
  return least((select min(xid::text::bigint) from feed_running() where not bystander), pg_current_xact_id_if_assigned()::text::bigint,
    pg_snapshot_xmax(pg_current_snapshot())::text::bigint);
end $$;
