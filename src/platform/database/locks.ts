/** The keys of advisory locks, in one table: two that were alike would wait for each other's work. Per-tenant locks hash their own text instead. */
export const advisoryLocks = {
  /** Migrations: one process at a time. */
  migrate: 7_067_411_801,
  /** Shared by every process on a data folder; the last one out shuts the embedded server down. */
  hold_embedded: 7_067_411_802,
  fold_usage: 7_067_411_830,
  periodicJobs: 7_067_411_831,
  /** Shared by every running process. */
  presence: 7_067_411_832,
  /** Making the first account of an empty database. */
  first_account: 7_067_411_833,
  fold_status_counts: 7_067_411_834,
  /** The first of a hundred and one: those after it are the places of expensive reads. */
  expensive_reads: 7_067_412_000,
} as const
