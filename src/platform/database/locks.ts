/** Keys of advisory locks. Per-tenant locks hash a text instead. */
export const advisoryLocks = {
  migrate: 7_067_411_801,
  embedded_server: 7_067_411_802,
  fold_usage: 7_067_411_830,
  periodicJobs: 7_067_411_831,
  processes: 7_067_411_832,
  first_account: 7_067_411_833,
  fold_status_counts: 7_067_411_834,
  /** The first of 101 keys. */
  read_pool: 7_067_412_000,
} as const
