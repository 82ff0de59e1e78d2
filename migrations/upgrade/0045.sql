-- What a database whose last migration is 0045_integrations.sql needs to be as the squashed migrations make it (docs/decisions/squashed-migrations.md).

alter table processes rename column beat_at to heartbeat_at;
alter table message_transitions rename column follower to projection;
alter table dispatch_jobs rename column doubtful to outcome_unknown;
alter table contact_import_pieces rename to contact_import_chunks;
alter index contact_import_pieces_pkey rename to contact_import_chunks_pkey;

alter table dispatch_jobs rename column due_at to next_run_at;
alter table inbound_parts rename column due_at to next_run_at;
alter table provider_reports rename column due_at to next_run_at;
alter table media_files rename column due_at to next_run_at;
alter table campaign_jobs rename column due_at to next_run_at;
alter table automation_runs rename column due_at to next_run_at;
alter table webhook_queue rename column due_at to next_run_at;
alter table webhook_retries rename column due_at to next_run_at;
alter table email_queue rename column due_at to next_run_at;

-- protected the request log from processes of an older version; those are stopped now
drop rule request_log_kept on request_log;
