/** Claims jobs so that one message that cannot be read delays no other (behaviour: operating 3.9). */
import { limits } from '../../../api/limits.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Db } from '../../../platform/database/sql.ts'
import { failedToRead, readApart } from '../../../platform/database/unreadable.ts'
import type { Platform } from '../../../platform/platform.ts'
import {
  type ClaimedPart,
  type ClaimedRow,
  countUnreadable,
  type RawClaim,
  readContents,
  releaseJobs,
} from './repository.ts'

export interface ReadableClaim {
  readonly rows: readonly ClaimedRow[]
  /** Messages, without content and metadata, that could not be read three times. They are still claimed. */
  readonly setAside: readonly ClaimedRow[]
}

const retryMs = 30_000

/**
 * `claim` reads all messages at once. Only if the database cannot read one of them, they are claimed without their
 * content and read apart. JSON is parsed here, because a statement whose answer cannot be parsed has claimed all the same.
 */
export async function claimReadable(
  { pool, process_id, clock, log }: Pick<Platform, 'pool' | 'process_id' | 'clock' | 'log'>,
  claim: (part: ClaimedPart) => Promise<RawClaim[]>,
): Promise<ReadableClaim> {
  const claimed = await claim('whole').catch(async (error: unknown) => {
    if (!failedToRead(error)) throw error
    log.warn({ err: error }, 'messages could not be claimed together; they are read in smaller parts')
    return await withContents(pool, process_id, await claim('without content'))
  })
  const rows: ClaimedRow[] = []
  const unreadable: RawClaim[] = []
  for (const raw of claimed) {
    const row = parsed(raw)
    if (row === null) unreadable.push(raw)
    else rows.push(row)
  }
  if (unreadable.length === 0) return { rows, setAside: [] }
  const ids = unreadable.map(({ id }) => id)
  log.error({ message_ids: ids }, 'messages could not be read; they are tried again later, three times in all')
  const final = await countUnreadable(pool, process_id, ids, isoTime(clock.now() + retryMs))
  return {
    rows,
    setAside: unreadable.filter(({ id }) => final.has(id)).map((raw) => ({ ...raw, content: {}, metadata: {} })),
  }
}

/** Null where the content cannot be parsed. */
function parsed(raw: RawClaim): ClaimedRow | null {
  if (raw.content === null || raw.metadata === null) return null
  try {
    return { ...raw, content: JSON.parse(raw.content), metadata: JSON.parse(raw.metadata) as Record<string, unknown> }
  } catch {
    return null
  }
}

async function withContents(pool: Db, process_id: string, claimed: readonly RawClaim[]): Promise<RawClaim[]> {
  try {
    const { rows } = await readApart(claimed, (some) => readContents(pool, some))
    const contents = new Map(rows.map((content) => [content.id, content]))
    return claimed.map((raw) => ({ ...raw, ...contents.get(raw.id) }))
  } catch (error) {
    const released = claimed.map(({ id, job_next_run_at }) => ({ message_id: id, next_run_at: job_next_run_at }))
    await releaseJobs(pool, process_id, released)
    throw error
  }
}

export const setAsideError = {
  code: 'internal_error',
  message: `The service could not read this message ${limits.unreadable_max} times and did not send it. Send it again; if it fails again, report its id to the operator.`,
  provider_code: null,
} as const
