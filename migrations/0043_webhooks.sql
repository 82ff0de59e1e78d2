-- why: a batch is removed with the last of its deliveries only where the outcomes of the others still stand; a crash of the database may have taken those.
alter table webhook_handoffs add column recorded integer not null default 0;
