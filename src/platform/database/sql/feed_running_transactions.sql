-- why: sessions must be looked up within the statement that reads the feed, after its snapshot was taken (docs/decisions/feed-horizon.md).

-- Other transactions that were running at the snapshot of the calling statement. An unrelated one provably writes no event: it belongs to another database,
-- or to a role that cannot write events and has written none. A transaction that has ended since, or is unknown, is not unrelated.
create or replace function feed_running_transactions()
returns table (xid xid8, unrelated boolean, database_oid oid, pid int, prepared_as text, role_oid oid, application_name text, started_at timestamptz)
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
  -- statistics that this transaction has read before may be older than the snapshot
  perform pg_stat_clear_snapshot();
  -- a writer holds this lock until its end. Locks are read before sessions: a session that still runs the same transaction afterwards has not ended in between
  if exists (select from pg_stat_activity s where s.backend_xid is not null and s.datid = own_database and s.usesysid <> own_role) then
    has_written := array(
      select l.pid
      from pg_locks l
      where l.locktype = 'relation' and l.database = own_database and l.pid is not null
        and l.mode not in ('AccessShareLock', 'RowShareLock')
        and l.relation in (select relid from pg_partition_tree('events')));
    perform pg_stat_clear_snapshot();
  end if;
  -- the row of a prepared transaction may be inconsistent: the database is that of the first look, if the transaction exists at the second
  select array_agg(p.transaction), array_agg(p.dbid)
  into prepared_xids, prepared_databases
  from pg_prepared_xact() p;
  return query
    select r.xid,
      coalesce(coalesce(s.datid, p.dbid) <> own_database
        or (s.datid = own_database and s.usesysid <> own_role and s.pid <> all (has_written) and not feed_can_write(s.usesysid)), false),
      coalesce(s.datid, p.dbid), s.pid, p.gid, coalesce(s.usesysid, p.ownerid), s.application_name, coalesce(s.xact_start, p.prepared)
    from unnest(running) r (xid)
    left join pg_stat_activity s on s.backend_xid = r.xid::xid
    left join (
      select a.dbid, b.transaction, b.gid, b.ownerid, b.prepared
      from pg_prepared_xact() b
      join unnest(prepared_xids, prepared_databases) a (transaction, dbid) on a.transaction = b.transaction
    ) p on p.transaction = r.xid::xid;
end $$;
