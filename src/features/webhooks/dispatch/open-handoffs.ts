/** What this process was handed on in memory and has not settled, by the batches under which it is written down. */
import { idTime } from '../../../lib/ids.ts'
import type { DeliveryJob } from './endpoint-session.ts'
import type { Offer, DeliveryGroup } from '../fan-out/handoff-store.ts'

/** What one pass of the fan-out handed on (`Followed` says how it is written). */
export interface HandoffBatch {
  readonly batch: number
  readonly created_at: string
  readonly endpoints: string
  readonly deliveries: string
}

/** Who takes deliveries from the fan-out of its own process. */
export interface HandoffConsumer {
  /** Numbers a batch; none comes twice. */
  nextBatchId(): number
  /** What it can take now, of so many endpoints at most. */
  offers(max: number): Offer[]
  /** Takes what was handed on; resolves once all of it is under way, waits, or is on its way to the queue. Never rejects. */
  take(handed: HandoffBatch): Promise<void>
  /** The batches that it knows. */
  batches(): number[]
}

/** Whose an endpoint is. */
interface Owner {
  readonly account_id: string
  readonly mode: string
}

export interface OpenHandoffs {
  /** The jobs of a batch that was taken at this time (milliseconds since 1970). */
  open(handed: HandoffBatch, ownerOf: (endpoint_id: string) => Owner, taken_at: number): DeliveryJob[]
  /** Jobs that are not settled. */
  size(): number
  ids(): number[]
  /** The batches that were taken before this time. */
  takenBefore(ms: number): number[]
  /** The batches of which nothing is left when these jobs are settled. */
  endedBy(jobs: readonly DeliveryJob[]): number[]
  /** These are settled. */
  settled(jobs: readonly DeliveryJob[]): void
  /** What is left of these batches stands in the queue now, or is none of ours any more. */
  queued(ids: readonly number[]): void
}

interface Batch {
  readonly taken_at: number
  /** Not settled. */
  readonly jobs: Set<DeliveryJob>
}

export function openHandoffs(): OpenHandoffs {
  const batches = new Map<number, Batch>()
  let size = 0
  return {
    size: () => size,
    ids: () => [...batches.keys()],
    open(handed, ownerOf, taken_at) {
      const jobs = jobsOf(handed, ownerOf)
      batches.set(handed.batch, { taken_at, jobs: new Set(jobs) })
      size += jobs.length
      return jobs
    },
    takenBefore(ms) {
      const found = []
      for (const [id, batch] of batches) {
        if (batch.taken_at >= ms) break // in the order in which they were taken
        found.push(id)
      }
      return found
    },
    endedBy(jobs) {
      const counts = new Map<number, number>()
      for (const job of jobs) if (batches.get(job.group!.batch)?.jobs.has(job) === true) counts.set(job.group!.batch, (counts.get(job.group!.batch) ?? 0) + 1)
      return [...counts].filter(([id, count]) => batches.get(id)?.jobs.size === count).map(([id]) => id)
    },
    settled(jobs) {
      for (const job of jobs) {
        const id = job.group!.batch
        const batch = batches.get(id)
        if (batch === undefined || !batch.jobs.delete(job)) continue
        size -= 1
        if (batch.jobs.size === 0) batches.delete(id)
      }
    },
    queued(ids) {
      for (const id of ids) {
        const batch = batches.get(id)
        if (batch === undefined) continue
        for (const job of batch.jobs) job.group = undefined
        size -= batch.jobs.size
        batches.delete(id)
      }
    },
  }
}

function jobsOf({ batch, created_at, endpoints, deliveries }: HandoffBatch, ownerOf: (endpoint_id: string) => Owner): DeliveryJob[] {
  const ids = endpoints.split('\n')
  const groups = new Map<string, DeliveryGroup>()
  const groupOf = (endpoint_id: string, event_type: string, owner: Owner): DeliveryGroup => {
    const key = `${endpoint_id} ${event_type}`
    let group = groups.get(key)
    if (group === undefined) groups.set(key, (group = { batch, endpoint_id, account_id: owner.account_id, mode: owner.mode, event_type, created_at }))
    return group
  }
  const jobs: DeliveryJob[] = []
  for (const line of deliveries.split('\n')) {
    const [number, ending, event_id, event_type] = line.split(' ') as [string, string, string, string]
    const endpoint_id = ids[Number(number) - 1]!
    const owner = ownerOf(endpoint_id)
    const group = groupOf(endpoint_id, event_type, owner)
    jobs.push({
      endpoint_id,
      id: `whd_${event_id.slice(4, 18)}${ending}`,
      account_id: owner.account_id,
      mode: owner.mode,
      event_id,
      event_type,
      attempts: 0,
      scheduled: true,
      due_ms: idTime(event_id),
      started_at: 0,
      circuit: false,
      group,
    })
  }
  return jobs
}
