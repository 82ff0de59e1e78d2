/** What this process was handed on in memory and has not settled, by the spans under which it is written down. */
import { idTime } from '../../lib/ids.ts'
import type { Job } from './hand.ts'
import type { Offer, Run } from './span-store.ts'

/** What one pass of the fan-out handed on (`Followed` says how it is written). */
export interface Handed {
  readonly span: number
  readonly created_at: string
  readonly endpoints: string
  readonly deliveries: string
}

/** Who takes deliveries from the fan-out of its own process. */
export interface Taker {
  /** Numbers a span; none comes twice. */
  nextSpan(): number
  /** What it can take now, of so many endpoints at most. */
  offers(max: number): Offer[]
  /** Takes what was handed on; resolves once all of it is under way, waits, or is on its way to the queue. Never rejects. */
  take(handed: Handed): Promise<void>
  /** The spans that it knows. */
  spans(): number[]
}

/** Whose an endpoint is. */
interface Owner {
  readonly account_id: string
  readonly mode: string
}

export interface Spans {
  /** The jobs of a span that was taken at this time (milliseconds since 1970). */
  open(handed: Handed, ownerOf: (endpoint_id: string) => Owner, taken_at: number): Job[]
  /** Jobs that are not settled. */
  size(): number
  ids(): number[]
  /** The spans that were taken before this time. */
  takenBefore(ms: number): number[]
  /** The spans of which nothing is left when these jobs are settled. */
  endedBy(jobs: readonly Job[]): number[]
  /** These are settled. */
  settled(jobs: readonly Job[]): void
  /** What is left of these spans stands in the queue now, or is none of ours any more. */
  queued(ids: readonly number[]): void
}

interface Span {
  readonly taken_at: number
  /** Not settled. */
  readonly jobs: Set<Job>
}

export function spanBook(): Spans {
  const spans = new Map<number, Span>()
  let size = 0
  return {
    size: () => size,
    ids: () => [...spans.keys()],
    open(handed, ownerOf, taken_at) {
      const jobs = jobsOf(handed, ownerOf)
      spans.set(handed.span, { taken_at, jobs: new Set(jobs) })
      size += jobs.length
      return jobs
    },
    takenBefore(ms) {
      const found = []
      for (const [id, span] of spans) {
        if (span.taken_at >= ms) break // in the order in which they were taken
        found.push(id)
      }
      return found
    },
    endedBy(jobs) {
      const counts = new Map<number, number>()
      for (const job of jobs) if (spans.get(job.run!.span)?.jobs.has(job) === true) counts.set(job.run!.span, (counts.get(job.run!.span) ?? 0) + 1)
      return [...counts].filter(([id, count]) => spans.get(id)?.jobs.size === count).map(([id]) => id)
    },
    settled(jobs) {
      for (const job of jobs) {
        const id = job.run!.span
        const span = spans.get(id)
        if (span === undefined || !span.jobs.delete(job)) continue
        size -= 1
        if (span.jobs.size === 0) spans.delete(id)
      }
    },
    queued(ids) {
      for (const id of ids) {
        const span = spans.get(id)
        if (span === undefined) continue
        for (const job of span.jobs) job.run = undefined
        size -= span.jobs.size
        spans.delete(id)
      }
    },
  }
}

function jobsOf({ span, created_at, endpoints, deliveries }: Handed, ownerOf: (endpoint_id: string) => Owner): Job[] {
  const ids = endpoints.split('\n')
  const runs = new Map<string, Run>()
  const runOf = (endpoint_id: string, event_type: string, owner: Owner): Run => {
    const key = `${endpoint_id} ${event_type}`
    let run = runs.get(key)
    if (run === undefined) runs.set(key, (run = { span, endpoint_id, account_id: owner.account_id, mode: owner.mode, event_type, created_at }))
    return run
  }
  const jobs: Job[] = []
  for (const line of deliveries.split('\n')) {
    const [number, ending, event_id, event_type] = line.split(' ') as [string, string, string, string]
    const endpoint_id = ids[Number(number) - 1]!
    const owner = ownerOf(endpoint_id)
    const run = runOf(endpoint_id, event_type, owner)
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
      run,
    })
  }
  return jobs
}
