-- why: what providers tell of one channel may be more than is applied at once. The reports of the other channels are found behind it, and those of one message that come
-- before others, without reading all that is due.
create index provider_reports_channel on provider_reports (channel_id, next_run_at, id);
