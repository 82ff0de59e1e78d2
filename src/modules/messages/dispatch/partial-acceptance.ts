/** Stores accepted parts of a message before the next part is sent. */
import { isoTime } from '../../../lib/clock.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { OnPartAccepted } from '../../../providers/provider.ts'
import type { InProgress } from './in-progress.ts'
import { type Job, sendTimeoutMs } from './job.ts'
import { saveAccepted } from './repository.ts'

/** Before the end of the job's claim. */
const marginMs = 1000

export interface PartialAcceptance {
  /** After each part but the last. Resolves to the timeout of the next part; null: stop. */
  readonly onPartAccepted: OnPartAccepted
  readonly stopped: () => boolean
  readonly end: () => void
}

/** The first part has the timeout of the whole batch. */
export function partialAcceptance(
  { clock, pool, process_id, log }: Pick<Platform, 'clock' | 'pool' | 'process_id' | 'log'>,
  jobs: Pick<InProgress, 'update'>,
  job: Job,
): PartialAcceptance {
  let stopped = false
  let part: AbortController | undefined
  const end = () => part?.abort()
  return {
    end,
    stopped: () => stopped,
    async onPartAccepted(provider_ids) {
      end()
      jobs.update(job, { accepted_ids: provider_ids })
      const claim = { process_id, message_id: job.row.id, lease_until: isoTime(job.lease_until_ms) }
      const saved = await saveAccepted(pool, claim, provider_ids).catch((error: unknown) => {
        log.error(
          { err: error, message_id: job.row.id },
          'accepted parts of a message could not be stored; the remaining parts are sent later',
        )
        return false
      })
      stopped = !saved || job.lease_until_ms - clock.now() < sendTimeoutMs + marginMs
      if (stopped) return null
      part = new AbortController()
      return partTimeout(clock, part.signal)
    },
  }
}

function partTimeout(clock: Platform['clock'], ended: AbortSignal): AbortSignal {
  const controller = new AbortController()
  void clock.sleep(sendTimeoutMs, ended).then(() => {
    if (!ended.aborted) controller.abort(new DOMException(`no answer within ${sendTimeoutMs} ms`, 'TimeoutError'))
  })
  return controller.signal
}
