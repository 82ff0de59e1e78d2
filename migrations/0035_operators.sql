-- why: the audit log is looked through by who acted, and forgets what is older than a year.
create index audit_entries_actor on audit_entries (account_id, actor_id, id);
create index audit_entries_impersonator on audit_entries (account_id, impersonator_id, id) where impersonator_id is not null;
create index audit_entries_age on audit_entries (created_at);
