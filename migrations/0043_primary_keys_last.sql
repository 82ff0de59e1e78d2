-- why: before a table has statistics its indexes look alike to the planner, and of those that look alike the one made last is taken.
-- A look-up of one row by its key must never walk an index that merely holds the key's columns somewhere.
alter table messages drop constraint messages_pkey;
alter table messages add primary key (account_id, mode, id);
alter table events drop constraint events_pkey;
alter table events add primary key (account_id, mode, id);
