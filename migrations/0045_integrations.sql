-- why: a receipt that had nobody to write to leaves its status of an order free for other topics, and parcels and refunds of that order still learn from it whose they are.
alter table automation_events
  -- a status of one order that was told and left free
  add column freed_once_key text;
create index automation_events_freed on automation_events (source_id, freed_once_key) where freed_once_key is not null;
