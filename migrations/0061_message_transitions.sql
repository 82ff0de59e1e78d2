-- why: what must become exactly one message is named by its submitter with a key of its own ("cmp_…/17"), which its message keeps; and whoever counts
-- messages of an origin (a campaign its recipients, an automation its runs) follows what becomes of them.
alter table messages add column submission_key text collate "C";

-- A row for each follower of the message's origin kind and each change of its status, written in the statement that makes the change. Followers fold their rows
-- and delete them in one transaction: what they tell is their own sum and the rows here, read in one snapshot.
create table message_transitions (
  follower text collate "C" not null,
  account_id text collate "C" not null,
  mode text not null,
  message_id text collate "C" not null,
  submission_key text collate "C",
  origin_type text not null,
  origin_id text collate "C",
  -- null: the message was accepted
  was text,
  status text not null,
  at timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 1000);
create index message_transitions_origin on message_transitions (follower, origin_id);
