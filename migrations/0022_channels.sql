-- why: a reconnect asks whether the session that a process holds is open, not only whether one holds it: it may have lost it a moment ago.
alter table channel_sessions add column is_open boolean not null default false;
