-- why: the console has an inbox. A conversation is who wrote on which channel, moved by what comes in alone; its id is made of that of the first message.
create table conversations (
  account_id text collate "C" not null,
  mode text not null,
  id text collate "C" not null,
  channel_id text collate "C" not null,
  -- who wrote, as on messages
  identifier text collate "C" not null,
  contact_id text collate "C",
  status text not null check (status in ('open', 'done')),
  -- a user
  assignee text collate "C",
  read boolean not null,
  -- null: on this channel nobody has to have written before
  window_expires_at timestamptz,
  last_message_at timestamptz not null,
  last_message_id text collate "C" not null,
  primary key (account_id, mode, id)
);
create unique index conversations_identifier on conversations (account_id, mode, channel_id, identifier);
create index conversations_newest on conversations (account_id, mode, last_message_id);
create index conversations_status on conversations (account_id, mode, status, last_message_id);
create index conversations_assignee on conversations (account_id, mode, assignee, status, last_message_id) where assignee is not null;
create index conversations_contact on conversations (account_id, mode, contact_id) where contact_id is not null;

-- What came in, of each conversation: messages are not found by who sent them.
create table conversation_messages (
  account_id text collate "C" not null,
  mode text not null,
  conversation_id text collate "C" not null,
  message_id text collate "C" not null,
  primary key (account_id, mode, conversation_id, message_id)
);

insert into conversations (account_id, mode, id, channel_id, identifier, contact_id, status, read, window_expires_at, last_message_at, last_message_id)
select account_id, mode, 'cnv_' || substr(min(id), 5), channel_id, "from", (array_agg(contact_id order by id desc))[1], 'open', false,
  max(created_at) filter (where channel_type = 'whatsapp') + interval '24 hours', max(created_at), max(id)
from messages where direction = 'inbound' group by account_id, mode, channel_id, "from";
insert into conversation_messages (account_id, mode, conversation_id, message_id)
select m.account_id, m.mode, c.id, m.id from messages m
join conversations c on c.account_id = m.account_id and c.mode = m.mode and c.channel_id = m.channel_id and c.identifier = m."from" where m.direction = 'inbound';
