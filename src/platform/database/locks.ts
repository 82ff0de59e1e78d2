/** The keys of advisory locks in one place. Per-tenant locks hash a text instead. */
export const advisoryLocks = {
  migrate: 7_067_411_801,
  /** Shared by every process on a data folder; the last one stops the embedded server. */
  embedded_server: 7_067_411_802,
  fold_usage: 7_067_411_830,
  periodicJobs: 7_067_411_831,
  /** Shared by every running process. */
  processes: 7_067_411_832,
  /** Creates the first account of an empty database. */
  first_account: 7_067_411_833,
  fold_status_counts: 7_067_411_834,
  /** The first of 101 keys. */
  read_pool: 7_067_412_000,
} as const
