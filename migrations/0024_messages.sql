-- why: a callback with a thousand statuses is 200 KB of the same words over and over; sent and stored as it is, it cost PostgreSQL more than what it tells. The bytes are
-- kept as they came, and how: `encoding` is 'gzip', or null for a body that is small.
alter table provider_callbacks add column encoding text;
