-- why: a message that becomes several at its provider may be taken in part. What was taken is kept with its job, so that whichever process repeats it sends the rest alone.
alter table dispatch_jobs add column accepted_ids text[];
