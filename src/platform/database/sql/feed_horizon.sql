-- why: every reader of the feed compares positions with it, within its own statement and of that statement's snapshot (docs/decisions/feed-horizon.md).

-- Every event below this position is committed and visible to the calling statement, or never will be. A statement asks once, in a variable or a sub-select: while the feed
-- is held, two answers may differ.
create or replace function feed_horizon() returns bigint language sql stable
  return (
    select (feed_epoch::bigint << 48) + case when feed_held then feed_attributed_xmin() else (pg_snapshot_xmin(pg_current_snapshot())::text)::bigint end
    from installation
  );
