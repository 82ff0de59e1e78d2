-- why: the console imports in steps. A file lies there as a draft, is checked, and is applied only when somebody starts it.
alter table contact_imports
  drop constraint contact_imports_status_check,
  -- 'draft', 'checked' and 'cancelled' are the console's alone; of one that is checked the counts are those that its start is expected to come to
  add constraint contact_imports_status_check check (status in ('uploading', 'draft', 'checked', 'cancelled', 'pending', 'running', 'completed', 'failed')),
  -- of a draft: what somebody said of its columns, by their headers
  add column chosen json not null default '{}';
