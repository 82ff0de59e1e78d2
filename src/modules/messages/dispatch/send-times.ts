/** When messages may go: whoever submits them may have times at which they do not, and is asked just before each hand-over (docs/decisions/campaigns.md). */
import type { OriginType } from '../../../api/resources/message.ts'
import type { MessageRow } from '../message.ts'
import type { Job } from './job.ts'

/** The times of the messages of one origin kind. */
export interface SendTimes {
  readonly origin: OriginType
  /** Of these messages those that may not go now, by their ids, each with the time in milliseconds at which it may. */
  notBefore(rows: readonly MessageRow[]): Promise<ReadonlyMap<string, number>>
}

/** Of these jobs those that may not go now, each with the time in milliseconds at which it may. */
export async function jobsNotBefore(
  times: readonly SendTimes[],
  jobs: readonly Job[],
): Promise<ReadonlyMap<Job, number>> {
  const later = new Map<Job, number>()
  for (const { origin, notBefore } of times) {
    const asked = jobs.filter(({ row }) => row.origin_type === origin)
    if (asked.length === 0) continue
    const found = await notBefore(asked.map(({ row }) => row))
    for (const job of asked) if (found.has(job.row.id)) later.set(job, found.get(job.row.id)!)
  }
  return later
}
