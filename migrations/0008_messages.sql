-- why: a row for each change of each followed message costs its index, its lock, its deletion and its reading one by one, which is most of what following costs.
-- Messages that one statement takes from one status to another, of one origin, share a row. Nothing follows messages yet, so no row is lost.
drop table message_transitions;

-- What projections count with (campaigns their recipients, automations their runs): a row for each projection of the messages' origin kind, written in the statement
-- that makes the change. Projections fold their rows and delete them in one transaction: what they tell is their own sum and the rows here, read in one snapshot.
create table message_transitions (
  projection text collate "C" not null,
  account_id text collate "C" not null,
  mode text not null,
  origin_type text not null,
  origin_id text collate "C",
  -- null: the messages were accepted
  was text,
  status text not null,
  -- the messages, each with its submission key and its time at the same place
  message_ids text[] collate "C" not null,
  submission_keys text[] collate "C" not null,
  ats timestamptz[] not null
) with (toast_tuple_target = 8160, vacuum_truncate = off, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 1000);
-- pages that were emptied are filled again, and not given back to be asked for once more; arrays are read once and deleted: compressing them would cost more than it saves
alter table message_transitions alter column message_ids set storage external, alter column submission_keys set storage external, alter column ats set storage external;
create index message_transitions_origin on message_transitions (projection, origin_id);
