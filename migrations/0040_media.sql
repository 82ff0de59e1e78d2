-- why: members of an account upload files, to be linked in messages: they came with no message, and lie where those lie that did.
alter table media_files
  alter column channel_id drop not null,
  alter column message_id drop not null,
  add constraint media_files_message_check check ((channel_id is null) = (message_id is null)),
  drop constraint media_files_status_check,
  -- 'uploading': its row is there before its file, so that no file is left where its process ends
  add constraint media_files_status_check check (status in ('waiting', 'uploading', 'copied', 'failed')),
  add constraint media_files_uploading_check check (status <> 'uploading' or (message_id is null and store is not null));
create index media_files_uploading on media_files (created_at) where status = 'uploading';
