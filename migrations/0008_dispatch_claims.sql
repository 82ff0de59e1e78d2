-- why: what a dead process had claimed is found without reading the whole queue.
create index dispatch_jobs_process on dispatch_jobs (process_id) where process_id is not null;
