/** What this process was handed off in memory and has not recorded, by the batches under which it is written down. */
import { idTime } from '../../../lib/ids.ts'
import type { DeliveryJob } from './endpoint-session.ts'
import type { HandoffBatch } from '../fan-out/handoff.ts'
import type { DeliveryGroup } from '../fan-out/handoff-store.ts'

export interface OpenHandoffs {
  /** The jobs of a batch that was taken at this time, by the elapsed time in milliseconds. */
  open(batch: HandoffBatch, taken_at: number): DeliveryJob[]
  /** Jobs that are not recorded. */
  size(): number
  ids(): number[]
  /** The batches that were taken before this time. */
  takenBefore(ms: number): number[]
  /** The batches of which nothing is left when these jobs are recorded. */
  endedBy(jobs: readonly DeliveryJob[]): number[]
  /** These are recorded. */
  recorded(jobs: readonly DeliveryJob[]): void
  /** What is left of these batches stands in the queue now, or is none of ours any more. */
  queued(ids: readonly number[]): void
}

interface Batch {
  readonly taken_at: number
  /** Not recorded. */
  readonly jobs: Set<DeliveryJob>
}

export function openHandoffs(): OpenHandoffs {
  const batches = new Map<number, Batch>()
  let size = 0
  return {
    size: () => size,
    ids: () => [...batches.keys()],
    open(batch, taken_at) {
      const jobs = jobsOf(batch)
      batches.set(batch.id, { taken_at, jobs: new Set(jobs) })
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
      for (const job of jobs)
        if (batches.get(job.group!.batch)?.jobs.has(job) === true)
          counts.set(job.group!.batch, (counts.get(job.group!.batch) ?? 0) + 1)
      return [...counts].filter(([id, count]) => batches.get(id)?.jobs.size === count).map(([id]) => id)
    },
    recorded(jobs) {
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

function jobsOf({ id: batch, created_at, deliveries }: HandoffBatch): DeliveryJob[] {
  const groups = new Map<string, DeliveryGroup>()
  return deliveries.map(({ id, endpoint_id, account_id, mode, event_id, event_type }) => {
    const key = `${endpoint_id} ${event_type}`
    let group = groups.get(key)
    if (group === undefined) groups.set(key, (group = { batch, endpoint_id, account_id, mode, event_type, created_at }))
    const due_ms = idTime(event_id)
    return {
      endpoint_id,
      id,
      account_id,
      mode,
      event_id,
      event_type,
      attempts: 0,
      scheduled: true,
      due_ms,
      started_at: 0,
      circuit: false,
      group,
    }
  })
}
