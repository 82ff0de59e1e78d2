-- why: the provider's id of the message that another one answers is looked up by the message.
drop index provider_references_message;
create index provider_references_message on provider_references (message_id);
create index inbound_references_message on inbound_references (message_id);
