-- why: campaigns, one message to many. A row of campaign_recipients becomes one message at most: its submission holds it, still pending and without a message.

create table campaigns (
  account_id text collate "C" not null,
  mode text not null check (mode in ('live', 'test')),
  id text collate "C" not null,
  name text not null,
  channel_id text collate "C" not null,
  channel_type text not null,
  status text not null check (status in ('draft', 'scheduled', 'queued', 'sending', 'paused', 'completed', 'cancelled', 'failed')),
  pause_reason text,
  failure_reason text,
  -- as it is shown, without the recipients of an ad-hoc one
  audience json not null,
  -- those of an ad-hoc audience, in the order given
  adhoc_recipients json,
  message json not null,
  merge_fallbacks json not null,
  require_opt_in boolean not null,
  consent_declared boolean not null,
  allow_insufficient_funds boolean not null default false,
  send_at timestamptz,
  timezone text not null,
  -- HH:MM; both or none
  window_start text,
  window_end text,
  recipient_timezone boolean not null,
  throttle_per_second smallint not null,
  estimated_credits bigint,
  estimated_wallet_micros bigint,
  -- the snapshot: when it began, the rules of the segment at that moment (while it is taken), how far it has come (a contact's id, or the number of an ad-hoc recipient), how many
  -- rows it has made, and when it was complete
  snapshot_began_at timestamptz,
  snapshot_rules json,
  snapshot_after text collate "C" not null default '',
  snapshot_rows integer not null default 0,
  snapshot_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  launched_at timestamptz,
  started_at timestamptz,
  paused_at timestamptz,
  completed_at timestamptz,
  cancelled_at timestamptz,
  primary key (account_id, mode, id)
);
create index campaigns_active on campaigns (account_id, mode, channel_type) where status in ('scheduled', 'queued', 'sending', 'paused');

-- Deleted drafts: cursors do not expire.
create table campaign_tombstones (
  account_id text collate "C" not null,
  mode text not null,
  id text collate "C" not null,
  deleted_at timestamptz not null,
  primary key (account_id, mode, id)
);

-- Campaigns that a process must work on: launched and not ended. One works on a campaign at a time, which is what its throttle counts by.
create table campaign_jobs (
  campaign_id text collate "C" primary key,
  account_id text collate "C" not null,
  mode text not null,
  -- null: anybody's
  process_id text collate "C",
  lease_until timestamptz,
  -- the recipients are still to be looked up, or to be written to
  kind text not null check (kind in ('snapshot', 'send')),
  -- nothing is to be done before
  next_run_at timestamptz not null,
  failures integer not null default 0
);
create index campaign_jobs_due on campaign_jobs (kind, next_run_at);

-- Those to whom a campaign goes, numbered in the order of its snapshot.
create table campaign_recipients (
  account_id text collate "C" not null,
  mode text not null,
  campaign_id text collate "C" not null,
  n integer not null,
  contact_id text collate "C",
  "to" text collate "C" not null,
  -- of the recipient on the channel, as contact_addresses has it: what duplicates and opt-outs are told by
  address text collate "C" not null,
  name text,
  -- of an ad-hoc recipient
  first_name text,
  last_name text,
  variables json,
  -- '': the campaign's own
  timezone text not null default '',
  status text not null check (status in ('pending', 'sent', 'delivered', 'read', 'failed', 'skipped', 'cancelled')),
  skip_reason text,
  message_id text collate "C",
  error json,
  sent_at timestamptz,
  delivered_at timestamptz,
  read_at timestamptz,
  failed_at timestamptz,
  primary key (campaign_id, n)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000, autovacuum_analyze_scale_factor = 0.05, autovacuum_analyze_threshold = 5000);
-- recipients to submit, and those in progress
create index campaign_recipients_unsent on campaign_recipients (campaign_id, timezone, n) where status = 'pending' and message_id is null;
create index campaign_recipients_underway on campaign_recipients (campaign_id, n) where status = 'pending' and message_id is not null;
create index campaign_recipients_status on campaign_recipients (campaign_id, status, n);
create index campaign_recipients_address on campaign_recipients (campaign_id, address);
create index campaign_recipients_contact on campaign_recipients (contact_id) where status = 'pending' and message_id is null and contact_id is not null;

-- Counters as deltas: readers add them up, and a periodic job folds them into one row per key. Costs are those of messages that did not fail.
create table campaign_counters (
  account_id text collate "C" not null,
  mode text not null,
  campaign_id text collate "C" not null,
  status text,
  skip_reason text,
  recipients integer not null default 0,
  wallet_micros bigint not null default 0,
  package_credits bigint not null default 0,
  -- a sum, not a delta: made by the periodic job
  folded boolean not null default false
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000, autovacuum_analyze_threshold = 1000);
create index campaign_counters_key on campaign_counters (campaign_id);
create index campaign_counters_unfolded on campaign_counters (campaign_id) where not folded;

-- Triggers, so that whoever writes a recipient counts it, the statement that accepts messages too. For each statement: what a set-wise write costs a row is little.
-- Recipients with a message are counted by its transitions, in any order; the trigger counts them as pending.
create function count_new_recipients() returns trigger language plpgsql as $$
begin
  insert into campaign_counters (account_id, mode, campaign_id, status, skip_reason, recipients)
  select account_id, mode, campaign_id, status, skip_reason, count(*) from changed group by 1, 2, 3, 4, 5;
  return null;
end $$;
create function count_removed_recipients() returns trigger language plpgsql as $$
begin
  insert into campaign_counters (account_id, mode, campaign_id, status, skip_reason, recipients)
  select account_id, mode, campaign_id, status, skip_reason, -count(*) from removed group by 1, 2, 3, 4, 5;
  return null;
end $$;
create function count_changed_recipients() returns trigger language plpgsql as $$
begin
  insert into campaign_counters (account_id, mode, campaign_id, status, skip_reason, recipients)
  select account_id, mode, campaign_id, status, skip_reason, sum(n) from (
    select account_id, mode, campaign_id, case when message_id is null or status = 'cancelled' then status else 'pending' end as status, skip_reason, 1 as n from after
    union all
    select account_id, mode, campaign_id, case when message_id is null or status = 'cancelled' then status else 'pending' end, skip_reason, -1 from before
  ) c group by 1, 2, 3, 4, 5 having sum(n) <> 0;
  return null;
end $$;
create trigger campaign_recipients_count_new after insert on campaign_recipients referencing new table as changed for each statement execute function count_new_recipients();
create trigger campaign_recipients_count_removed after delete on campaign_recipients referencing old table as removed for each statement execute function count_removed_recipients();
create trigger campaign_recipients_count_changed after update on campaign_recipients referencing old table as before new table as after for each statement execute function count_changed_recipients();
