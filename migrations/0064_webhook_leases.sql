-- why: a process holds a lease on an endpoint and is handed batches of deliveries; the tables say so. What the program now does itself is no longer a function, and what stays
-- one is a file (src/features/webhooks/sql/).
drop function webhook_settle(text, text, text, text, text, text, text, text, text, json, int, boolean);
drop function webhook_settle_handed(text, text, text, text, text, text, text, text, text, text, text, text, text, text, text, text, text, json, int, boolean);
drop function webhook_take_turns(text, timestamptz, timestamptz, timestamptz, text, int, int);
drop function webhook_due(json);
drop function webhook_events(json);
drop function webhook_queue_spans(text, text);
drop function webhook_drop_handed(text);
drop function webhook_span_deliveries(text, text);

alter table webhook_turns rename to webhook_leases;
alter table webhook_leases rename column owner to process_id;
alter index webhook_turns_pkey rename to webhook_leases_pkey;
alter table webhook_spans rename to webhook_handoffs;
alter index webhook_spans_pkey rename to webhook_handoffs_pkey;
