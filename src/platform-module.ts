/** The platform as a module: its own tables and periodic jobs. */
import type { Module } from './module.ts'
import { ofAccount, ofInstallation, ofProcess } from './platform/database/table-scope.ts'
import { platformPeriodicJobs } from './platform/jobs/periodic-jobs.ts'

export const platformModule: Module = {
  name: 'platform',
  tables: {
    events: ofAccount,
    idempotency_keys: ofAccount,
    installation: ofInstallation,
    processes: ofProcess,
    schema_functions: ofProcess,
    schema_migrations: ofProcess,
  },
  build: ({ platform }) => ({ services: {}, periodicJobs: platformPeriodicJobs(platform) }),
}
