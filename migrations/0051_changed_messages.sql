-- why: every look for late changes reads the whole summary of times; half as many ranges halve it, and a range that holds a late change is still read in a fraction of a millisecond.
drop index messages_updated;
create index messages_updated on messages using brin (updated_at) with (autosummarize = on, pages_per_range = 32);
