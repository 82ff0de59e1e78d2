/** The service of the console module (behaviour: console 2). */
import { limits } from '../../api/limits.ts'
import { isoTime } from '../../lib/clock.ts'
import { maintainPartitions } from '../../platform/database/partitions.ts'
import { untilDone } from '../../platform/jobs/periodic-jobs.ts'
import type { PeriodicJob, Platform } from '../../platform/platform.ts'
import type { AccountService } from '../accounts/service.ts'
import type { FeedService } from '../webhooks/feed/service.ts'
import { byCommand, keyRecorder } from './audit/recording.ts'
import { forgetAudit } from './audit/repository.ts'
import { forgetConversations } from './conversations/repository.ts'
import { Streams } from './live/streams.ts'
import { peopleCommands } from './people/commands.ts'
import { passwordResets } from './people/resets.ts'
import { offerSetup } from './people/setup.ts'
import { forgetSizes } from './request-log/repository.ts'
import { requestRing } from './request-log/ring.ts'
import { secondFactorPeriodicJobs } from './sign-in/second-factor.ts'
import { sessions, type Sessions } from './sign-in/sessions.ts'
import { invitationPeriodicJobs } from './team/invitations.ts'

export { codesAtGuard } from './guard.ts'
export type { ConsoleRoute } from './route.ts'

const forgottenPerStep = 5_000

export type OperatorService = ReturnType<typeof operatorService>

export function operatorService(platform: Platform, accounts: AccountService, feed: FeedService) {
  const open = sessions(platform, accounts)
  const resets = passwordResets(platform, open)
  const streams = new Streams({ platform, accounts, feed, sessions: open })
  const requests = requestRing(platform, (row) => streams.noteChange(row))
  return {
    sessions: open,
    resets,
    streams,
    people: peopleCommands(platform, open),
    offerSetup: () => offerSetup(platform),
    requests,
    recorderOf: keyRecorder(platform),
    byCommand: byCommand(platform),
    workers: [requests.worker, streams.worker],
    periodicJobs: operatorPeriodicJobs(platform, open),
    async stop() {
      await resets.flush()
      await requests.flush()
    },
  }
}

const operatorPeriodicJobs = (platform: Platform, open: Sessions): PeriodicJob[] => [
  ...secondFactorPeriodicJobs(platform),
  ...invitationPeriodicJobs(platform),
  { name: 'delete-ended-sessions', every_ms: 60_000, run: () => open.forgetEnded() },
  {
    name: 'delete-old-audit-entries',
    every_ms: 3600_000,
    run: () =>
      untilDone(platform.clock, forgottenPerStep, () =>
        forgetAudit(
          platform.pool,
          isoTime(platform.retention_clock.now() - limits.audit_retention_ms),
          forgottenPerStep,
        ),
      ),
  },
  {
    name: 'maintain-request-log-partitions',
    every_ms: 3600_000,
    run: async () => {
      const { pool, clock, retention_clock, settings } = platform
      const before = retention_clock.now() - settings.request_log_retention_ms
      const changed = await maintainPartitions(
        pool,
        { table: 'request_log', prefix: 'req', every: 'day' },
        clock.now(),
        before,
      )
      return changed + (await forgetSizes(pool, isoTime(before)))
    },
  },
  {
    name: 'delete-old-conversations',
    every_ms: 3600_000,
    run: () => untilDone(platform.clock, forgottenPerStep, () => forgetConversations(platform.pool, forgottenPerStep)),
  },
]
