-- why: old provider records are found by their time without an index that every message would pay for.
create index provider_references_created on provider_references using brin (created_at);
create index inbound_references_created on inbound_references using brin (created_at);
create index provider_callbacks_received on provider_callbacks using brin (received_at);
