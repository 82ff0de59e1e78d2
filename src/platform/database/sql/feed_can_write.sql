-- why: called within the statement that reads the feed, after that statement's snapshot was taken (docs/decisions/feed-horizon.md).

-- Whether a session of this login role may write events: itself, as a role that it may become, or through a function or a rule with another role's privileges.
create or replace function feed_can_write(role oid) returns boolean language plpgsql stable as $$
declare
  tables oid[] := array(select relid from pg_partition_tree('events'));
  writers oid[] := array(
    select w.oid
    from pg_roles w
    where w.rolsuper or exists (select from unnest(tables) t where has_any_column_privilege(w.oid, t, 'insert')));
begin
  return not exists (select from pg_roles r where r.oid = role)
    or exists (select from unnest(writers) w where pg_has_role(role, w, 'member'))
    or exists (select from pg_proc p where p.prosecdef and p.pronamespace <> 'pg_catalog'::regnamespace and p.proowner = any (writers))
    or exists (select from pg_depend d where d.classid = 'pg_rewrite'::regclass and d.refclassid = 'pg_class'::regclass and d.refobjid = any (tables));
end $$;
