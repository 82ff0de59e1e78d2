-- why: the fan-out decides in the program who gets an event; the database keeps its cursor and reads the feed (src/features/webhooks/fan-out/).
drop function webhook_follow_feed(timestamptz, int, text, bigint, text, text, text, timestamptz);
drop function webhook_filters_pass(jsonb, text, text);
drop function webhook_filters_pass(jsonb, text, json);
drop function webhook_is_later(bigint, bigint, pg_snapshot);
