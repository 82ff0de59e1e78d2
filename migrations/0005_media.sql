-- why: providers keep files that come in for minutes only, so they are copied on arrival, each by one process at a time, and kept for a while.
create table media_files (
  account_id text collate "C" not null references accounts (id),
  mode text not null check (mode in ('live', 'test')),
  id text collate "C" primary key,
  -- null: uploaded by a member of the account, to be linked in messages
  channel_id text collate "C",
  message_id text collate "C",
  -- as its attachment says: image, video, audio, document, sticker
  kind text not null,
  filename text,
  -- uploading: the row exists before the file, so that no file is left over where its process ends
  status text not null check (status in ('waiting', 'uploading', 'copied', 'failed')),
  -- where its provider has it, until it is copied
  reference json,
  attempts smallint not null default 0,
  next_run_at timestamptz not null,
  -- who copies it, and until when that is believed
  process_id text collate "C",
  claimed_until timestamptz,
  -- where the copy is
  store text check (store in ('folder', 's3')),
  content_type text,
  bytes bigint,
  created_at timestamptz not null,
  -- why it could not be copied: gone, too long, refused
  failure text,
  -- the bucket that it was put into; null in a folder, and in rows of before this column
  bucket text,
  check ((status = 'waiting') = (reference is not null)),
  check ((status = 'copied') = (store is not null and content_type is not null and bytes is not null)),
  constraint media_files_failure check (failure is null or status = 'failed'),
  constraint media_files_bucket check (bucket is null or store = 's3'),
  constraint media_files_message_check check ((channel_id is null) = (message_id is null)),
  constraint media_files_uploading_check check (status <> 'uploading' or (message_id is null and store is not null))
);
create index media_files_waiting on media_files (channel_id, next_run_at) where status = 'waiting';
create index media_files_age on media_files (created_at);
create index media_files_message on media_files (account_id, mode, message_id);
create index media_files_uploading on media_files (created_at) where status = 'uploading';
-- sums the bytes of an account
create index media_files_stored on media_files (account_id, status) include (bytes) where status in ('copied', 'uploading');
