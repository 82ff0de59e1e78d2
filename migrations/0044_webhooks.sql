-- why: a part that is recorded adds to a number in a row of its own; the row of the batch is large, and each part would write it anew.
-- Of a handoff batch that is recorded in parts, how many of its deliveries are on record.
create table webhook_handoff_counts (
  process_id text collate "C" not null,
  id bigint not null,
  recorded integer not null,
  primary key (process_id, id)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 100000, autovacuum_vacuum_insert_threshold = -1, autovacuum_vacuum_cost_delay = 0);
alter table webhook_handoffs drop column recorded;
