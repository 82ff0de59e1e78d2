/** A hand-over of a message that becomes several at its provider: each part has its time, and what was taken is kept before the next one goes. */
import { abortListeners } from '../../../lib/abort-listeners.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { PartTaken } from '../../channels/adapter.ts'
import { sendTimeoutMs, type Job } from './job.ts'
import { keepAccepted } from './parts-store.ts'

/** So long before the job's claim ends a part has its answer at the latest: nobody else takes the job meanwhile. */
const marginMs = 1000

export interface PartsTaken {
  /** Aborts with the time of the batch, or, once a part was taken, with that of the next one. */
  readonly signal: AbortSignal
  /** Told of each part but the last; resolves to whether the next one may go. */
  readonly took: PartTaken
  /** Whether the rest was told to wait for the next hand-over. */
  readonly stopped: () => boolean
  /** The hand-over is over. */
  end(): void
}

const batches = abortListeners()

/** The time and the memory of one hand-over of `job`, which began with others whose time is that of `batch`. */
export function partsTaken(
  { clock, pool, process_id, log }: Pick<Platform, 'clock' | 'pool' | 'process_id' | 'log'>,
  job: Job,
  batch: AbortSignal,
): PartsTaken {
  const [given, ended] = [new AbortController(), new AbortController()]
  let [until_ms, stopped] = [0, false]
  const expire = async () => {
    while (until_ms > clock.now() && !ended.signal.aborted) await clock.sleep(until_ms - clock.now(), ended.signal)
    if (!ended.signal.aborted) given.abort(batch.reason)
  }
  if (batch.aborted) given.abort(batch.reason)
  const leave = batches.add(batch, () => void expire())
  const begin = () => (until_ms = clock.now() + sendTimeoutMs)
  return {
    signal: given.signal,
    stopped: () => stopped,
    async took(provider_ids) {
      job.accepted_ids = provider_ids
      begin()
      const claim = { process_id, message_id: job.row.id, lease_until: isoTime(job.lease_until_ms) }
      const kept = await keepAccepted(pool, claim, provider_ids).catch((error: unknown) => {
        log.error({ err: error, message_id: job.row.id }, 'what a provider took of a message could not be kept; the rest is handed over later')
        return false
      })
      stopped = !kept || given.signal.aborted || job.lease_until_ms - clock.now() < sendTimeoutMs + marginMs
      begin()
      return !stopped
    },
    end() {
      leave()
      ended.abort()
    },
  }
}
