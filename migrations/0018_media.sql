-- why: a file is removed from the bucket that it was put into, and from no other that is configured since. Null: kept before this was written down.
alter table media_files add column bucket text;
alter table media_files add constraint media_files_bucket check (bucket is null or store = 's3');
