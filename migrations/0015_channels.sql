-- why: every template message is looked up by name and language, and the provider's own list takes seconds. Our copy of it.
create table channel_templates (
  account_id text collate "C" not null,
  mode text not null check (mode = 'live'),
  channel_id text collate "C" not null references channels (id),
  id text collate "C" primary key,
  -- the provider's own
  provider_id text not null,
  name text not null,
  language text not null,
  category text not null,
  status text not null,
  parameter_format text not null,
  components json not null,
  rejected_reason text,
  updated_at timestamptz not null
);
create unique index channel_templates_provider on channel_templates (channel_id, provider_id);
create index channel_templates_name on channel_templates (channel_id, name, language);
-- null: the provider has no templates
alter table channels add column templates_due_at timestamptz;
-- when the reading began that the copy is of: one that began earlier does not overwrite it
alter table channels add column templates_read_at timestamptz;
create index channels_templates_due on channels (templates_due_at) where templates_due_at is not null and deleted_at is null;
