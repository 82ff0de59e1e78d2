-- why: which automations an event cancels is known by their own `cancel_on` when it comes, so a change of it is in force at once for all that waits; runs kept a copy of it, which had to follow.
drop index automation_runs_waiting;
alter table automation_runs drop column cancel_on;
-- written at once: what waits to be written is read through by every look
create index automation_runs_waiting on automation_runs using gin (customer_keys) with (fastupdate = off) where status = 'scheduled';
