-- why: readers of the feed compare positions with it within their own statement, on that statement's snapshot (docs/decisions/feed-horizon.md).

-- Every event below this position is visible to the calling statement, or never will be. Call it once per statement, in a variable or a sub-select: two results may differ.
create or replace function feed_horizon() returns bigint language sql stable
  return (
    select (feed_epoch::bigint << 48)
      + case when feed_skips_unrelated then feed_attributed_xmin() else (pg_snapshot_xmin(pg_current_snapshot())::text)::bigint end
    from installation
  );
