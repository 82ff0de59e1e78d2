-- why: a clock that jumps ahead must delete nothing, also where a process starts after the jump: the last time that was believed is compared with.
alter table installation add column trusted_at timestamptz;
