-- why: what waited while an account was suspended is not sent once it is reinstated, however soon that is.
alter table accounts add column reinstated_at timestamptz;
