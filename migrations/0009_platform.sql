-- why: readers of the event feed look at whose the running transactions are only while one holds the feed up that cannot write events.
alter table installation add column feed_held boolean not null default false;
