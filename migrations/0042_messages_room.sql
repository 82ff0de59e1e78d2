-- why: a message is updated three times within a second or so; with half a page free one update in ten had to leave it.
alter table messages_default set (fillfactor = 30);
