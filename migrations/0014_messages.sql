-- why: a message whose hand-over got no answer is asked about before it is handed over again, where its provider can tell.
alter table dispatch_jobs add column outcome_unknown boolean not null default false;
