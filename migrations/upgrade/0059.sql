-- What a database whose last migration is 0059_entry_order.sql needs to be as 0001 to 0007 make it (docs/decisions/squashed-migrations.md).

-- A column of a set-wise statement is read by a function that is named for what it makes.
create function text_column(lines text) returns text[] language sql immutable parallel safe return string_to_array(lines, E'\n', '');
drop function split_lines(text);

create or replace function agree(holds boolean) returns boolean language plpgsql stable as $$
begin
  if holds then return true; end if;
  raise exception 'a concurrent request was quicker' using errcode = '40001';
end $$;

alter function count_moved_messages() rename to count_changed_messages;
alter trigger messages_count_moved on messages rename to messages_count_changed;

-- What must become exactly one message is named by its producer with a key of its own ("cmp_…/17"), which its message keeps; and whoever counts
-- messages of an origin (a campaign its recipients, an automation its runs) follows what becomes of them.
alter table messages add column submission_key text collate "C";

-- A row for each projection of the message's origin kind and each change of its status, written in the statement that makes the change. Projections fold their rows
-- and delete them in one transaction: what they tell is their own sum and the rows here, read in one snapshot.
create table message_transitions (
  projection text collate "C" not null,
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
create index message_transitions_origin on message_transitions (projection, origin_id);

-- What a receipt says of its message is called a transition, as everywhere; receipts that are kept and not applied yet come along.
update provider_reports set report = (report::jsonb - 'move' || jsonb_build_object('transition', report::jsonb -> 'move'))::json
where report ->> 'kind' = 'receipt' and report::jsonb ? 'move';

-- The fan-out decides in the program who gets an event; the database keeps its cursor and reads the feed (src/modules/webhooks/fan-out/).
drop function webhook_follow_feed(timestamptz, int, text, bigint, text, text, text, timestamptz);
drop function webhook_filters_pass(jsonb, text, text);
drop function webhook_filters_pass(jsonb, text, json);
drop function webhook_is_later(bigint, bigint, pg_snapshot);

-- A process holds a lease on an endpoint and is handed batches of deliveries; the tables say so. What the program now does itself is no longer a function, and what stays
-- one is a file (src/modules/webhooks/sql/).
drop function webhook_settle(text, text, text, text, text, text, text, text, text, json, int, boolean);
drop function webhook_settle_handed(text, text, text, text, text, text, text, text, text, text, text, text, text, text, text, text, text, json, int, boolean);
drop function webhook_take_turns(text, timestamptz, timestamptz, timestamptz, text, int, int);
drop function webhook_due(json);
drop function webhook_events(json);
drop function webhook_queue_spans(text, text);
drop function webhook_drop_handed(text);
drop function webhook_span_deliveries(text, text);

alter table webhook_turns rename to webhook_leases;
alter table webhook_leases rename column owner to process_id;
alter index webhook_turns_pkey rename to webhook_leases_pkey;
alter table webhook_spans rename to webhook_handoffs;
alter index webhook_spans_pkey rename to webhook_handoffs_pkey;
