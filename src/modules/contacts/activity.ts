/** Updates `last_message_at` of contacts, at most once a second. */
import { isoTime } from '../../lib/clock.ts'
import type { Platform } from '../../platform/platform.ts'
import { touchMessaged } from './repository.ts'

export interface MessagedContact {
  readonly account_id: string
  readonly mode: string
  readonly contact_id: string | null
}

export interface Activity {
  /** A crash loses what is not written yet, which is acceptable for this field. */
  messagesAccepted(rows: readonly MessagedContact[]): void
  flush(): Promise<void>
}

const pauseMs = 1000
/** Bounds memory: further contacts are skipped until the next write. */
const collectedMax = 100_000
const chunk = 1000

export function activity(platform: Platform): Activity {
  let collected = new Map<string, { account_id: string; mode: string; id: string; at: string }>()
  let writing: Promise<void> | undefined
  let written: Promise<void> = Promise.resolve()

  function messagesAccepted(rows: readonly MessagedContact[]): void {
    const at = isoTime(platform.clock.now())
    for (const { account_id, mode, contact_id } of rows) {
      if (contact_id !== null && (collected.size < collectedMax || collected.has(contact_id)))
        collected.set(contact_id, { account_id, mode, id: contact_id, at })
    }
    if (collected.size > 0) writing ??= writeAndPause()
  }

  async function writeAndPause(): Promise<void> {
    try {
      while (collected.size > 0) {
        await flush()
        await platform.clock.sleep(pauseMs)
      }
    } finally {
      writing = undefined
    }
  }

  const flush = (): Promise<void> => (written = written.then(write))

  async function write(): Promise<void> {
    const rows = [...collected.values()]
    collected = new Map()
    for (let from = 0; from < rows.length; from += chunk) {
      try {
        await touchMessaged(platform.pool, rows.slice(from, from + chunk))
      } catch (error) {
        platform.log.warn({ err: error }, 'last_message_at of some contacts could not be written')
      }
    }
  }

  return { messagesAccepted, flush }
}
