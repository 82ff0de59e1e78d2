/** A hand-over of a message that becomes several at its provider: what was taken is kept before the next part goes, and each part has its time. */
import { isoTime } from '../../../lib/clock.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { OnPartAccepted } from '../../../providers/provider.ts'
import type { InHand } from './in-progress.ts'
import { type Job, sendTimeoutMs } from './job.ts'
import { keepAccepted } from './repository.ts'

/** So long before the job's claim ends a part has its answer at the latest: nobody else takes the job meanwhile. */
const marginMs = 1000

export interface PartsTaken {
  /** Told of each part but the last; resolves to the time of the next one. Messages of one part never come here, and cost nothing. */
  readonly took: OnPartAccepted
  /** Whether the rest was told to wait for the next hand-over. */
  readonly stopped: () => boolean
  /** The hand-over is over. */
  readonly end: () => void
}

/** The memory of one hand-over of `job`, and the time of each part but the first, whose time is that of the batch. */
export function partsTaken(
  { clock, pool, process_id, log }: Pick<Platform, 'clock' | 'pool' | 'process_id' | 'log'>,
  jobs: Pick<InHand, 'update'>,
  job: Job,
): PartsTaken {
  let stopped = false
  let part: AbortController | undefined
  const end = () => part?.abort()
  return {
    end,
    stopped: () => stopped,
    async took(provider_ids) {
      end()
      jobs.update(job, { accepted_ids: provider_ids })
      const claim = { process_id, message_id: job.row.id, lease_until: isoTime(job.lease_until_ms) }
      const kept = await keepAccepted(pool, claim, provider_ids).catch((error: unknown) => {
        log.error(
          { err: error, message_id: job.row.id },
          'what a provider took of a message could not be kept; the rest is handed over later',
        )
        return false
      })
      stopped = !kept || job.lease_until_ms - clock.now() < sendTimeoutMs + marginMs
      if (stopped) return null
      part = new AbortController()
      return timeOf(clock, part.signal)
    },
  }
}

/** Aborts when the time of one part is over, unless that has ended before. */
function timeOf(clock: Platform['clock'], ended: AbortSignal): AbortSignal {
  const given = new AbortController()
  void clock.sleep(sendTimeoutMs, ended).then(() => {
    if (!ended.aborted) given.abort(new DOMException(`no answer within ${sendTimeoutMs} ms`, 'TimeoutError'))
  })
  return given.signal
}
