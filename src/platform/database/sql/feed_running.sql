-- why: whose a transaction is must be asked within the statement that reads the feed, after that statement's snapshot was taken (docs/decisions/feed-horizon.md).

-- The transactions that were running when the snapshot of the calling statement was taken, but for its own, and what can be told of them. A bystander is proven to
-- write no event: it is another database's, or of a role that can write none and has written none. What has ended since, or cannot be told, is no bystander.
create or replace function feed_running()
returns table (xid xid8, bystander boolean, database_oid oid, pid int, prepared_as text, role_oid oid, application_name text, began timestamptz)
language plpgsql stable as $$
#variable_conflict use_column
declare
  running xid8[] := array(select pg_snapshot_xip(pg_current_snapshot()));
  own_database oid := (select oid from pg_database where datname = current_database());
  own_role oid := (select oid from pg_roles where rolname = current_user);
  prepared_xids xid[];
  prepared_databases oid[];
  has_written int[];
begin
  if cardinality(running) = 0 then return; end if;
  -- what this transaction has seen of other sessions before may be older than the snapshot
  perform pg_stat_clear_snapshot();
  -- who has written holds this lock until its end; looked at before the sessions are, anew: whoever still runs the same transaction then has not ended in between
  if exists (select from pg_stat_activity s where s.backend_xid is not null and s.datid = own_database and s.usesysid <> own_role) then
    has_written := array(
      select l.pid from pg_locks l
      where l.locktype = 'relation' and l.database = own_database and l.pid is not null and l.mode not in ('AccessShareLock', 'RowShareLock')
        and l.relation in (select relid from pg_partition_tree('events')));
    perform pg_stat_clear_snapshot();
  end if;
  -- the row of a prepared transaction may be torn: the database counts of one that is still there at the second look
  select array_agg(p.transaction), array_agg(p.dbid) into prepared_xids, prepared_databases from pg_prepared_xact() p;
  return query
    select r.xid,
      coalesce(coalesce(s.datid, p.dbid) <> own_database
        or (s.datid = own_database and s.usesysid <> own_role and s.pid <> all (has_written) and not feed_can_write(s.usesysid)), false),
      coalesce(s.datid, p.dbid), s.pid, p.gid, coalesce(s.usesysid, p.ownerid), s.application_name, coalesce(s.xact_start, p.prepared)
    from unnest(running) r (xid)
    left join pg_stat_activity s on s.backend_xid = r.xid::xid
    left join (
      select a.dbid, b.transaction, b.gid, b.ownerid, b.prepared
      from pg_prepared_xact() b join unnest(prepared_xids, prepared_databases) a (transaction, dbid) on a.transaction = b.transaction
    ) p on p.transaction = r.xid::xid;
end $$;
