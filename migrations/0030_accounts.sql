-- why: a national number is refused with its E.164 form where the account says in which country its numbers are written.
alter table accounts add column default_country text;
