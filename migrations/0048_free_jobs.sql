-- why: a job that a process has in hand from the start is never looked for by its queue; one index less is kept up for it, and its remains do not lie in the way of those who look.
drop index dispatch_jobs_due;
create index dispatch_jobs_free on dispatch_jobs (queue, priority, due_at, message_id) where process_id is null;
