-- why: what a message costs, and that a look-up by key is one.

-- An object's id is unique by itself: its events are found by it alone, in an index of half the size.
drop index events_object;
create index events_object on events (object_id, position, id);

-- Reports are read in the order of their time and removed where they were found: one index does.
alter table provider_reports drop constraint provider_reports_pkey;
drop index provider_reports_due;
alter table provider_reports add primary key (due_at, id);

-- Before a table has statistics its indexes look alike to the planner, and of those that look alike the one made last is taken.
-- A look-up of one row by its key must never walk an index that merely holds the key's columns somewhere.
alter table messages drop constraint messages_pkey;
alter table messages add primary key (account_id, mode, id);
alter table events drop constraint events_pkey;
alter table events add primary key (account_id, mode, id);
