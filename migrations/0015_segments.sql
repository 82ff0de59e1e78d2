-- why: segments, and the times that their rules find in attributes.
create table segments (
  account_id text collate "C" not null,
  mode text not null check (mode in ('live', 'test')),
  id text collate "C" not null,
  name text not null,
  description text not null default '',
  rules json not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint segments_pkey primary key (account_id, mode, id)
);

-- The time that a text tells, as ISO 8601 in UTC with milliseconds, or null. Without a zone it is UTC.
create function rule_time_of(told text) returns text language sql stable parallel safe
  return case
    when told ~ '^(?!9999)[1-9]\d{3}-\d\d-\d\d[Tt]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?([Zz]|[+-](0\d|1[0-4]):?[0-5]\d)?$'
      and pg_input_is_valid(told, 'timestamp')
    then to_char(case
      when told ~ '([Zz]|[Tt].*[+-]\d\d:?\d\d)$' then told::timestamptz at time zone 'UTC'
      else told::timestamp
    end, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
  end;

-- The same for an attribute that is no mere date. What looks like a UTC time in its usual form is taken as it stands: reading a
-- million as times takes seven seconds, this way one. src/features/contacts/segments/instant.ts means the same.
create function rule_time(told text) returns text language sql stable parallel safe
  return case
    when told like '____-__-__T__:__:__Z' and told collate "C" < ':' then left(told, 19) || '.000Z'
    when told like '____-__-__T__:__:__.___Z' and told collate "C" < ':' then told
    when told like '____-__-__T%' or told like '____-__-__t%' then rule_time_of(told)
  end;
