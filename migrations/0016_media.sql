-- why: whoever asks for a file that could not be had is told what it was: gone, too long, refused.
alter table media_files add column failure text;
alter table media_files add constraint media_files_failure check (failure is null or status = 'failed');
