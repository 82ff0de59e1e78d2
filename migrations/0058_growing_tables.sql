-- why: tables that only grow were analysed at every fifth of growth, six times in the first minute under load; each time every session plans its statements anew.
-- Twice as many rows are as like the ones before: whenever they have doubled is enough. New partitions are made so.
alter table ledger_entries set (autovacuum_analyze_scale_factor = 1);
alter table provider_references set (autovacuum_analyze_scale_factor = 1);

do $$
declare
  part regclass;
begin
  for part in
    select inhrelid::regclass from pg_inherits
    where inhparent in ('messages'::regclass, 'message_attempts'::regclass, 'events'::regclass, 'webhook_deliveries'::regclass)
  loop
    execute format('alter table %s set (autovacuum_analyze_scale_factor = 1)', part);
  end loop;
end $$;
