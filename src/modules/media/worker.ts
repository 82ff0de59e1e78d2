/** The worker `media`: copies files that came in, a few at once and few of one channel and account, and tries again for ten minutes what may still be had. */
import { withDeadline, isoTime } from '../../lib/clock.ts'
import { PermanentError } from '../../lib/permanent-error.ts'
import type { Worker } from '../../platform/jobs/worker.ts'
import { limits } from '../../api/limits.ts'
import type { Platform } from '../../platform/platform.ts'
import type { ChannelService } from '../channels/service.ts'
import type { Incoming } from './folder.ts'
import type { Storage } from './storage.ts'
import * as store from './store.ts'
import type { InboundMediaRow } from './store.ts'
import { bytesMaxOf } from './file-kinds.ts'

const atOnceMax = 16
const atOncePerChannelMax = 3
const atOncePerAccountMax = 6
const copyTimeoutMs = 180_000
/** Longer than a copy may take: whoever holds it longer has lost it. */
const claimMs = copyTimeoutMs + 60_000
/** Before each further try; after the last one it has failed. */
const retryAfterMs = [2_000, 5_000, 15_000, 60_000, 150_000, 300_000]
const attemptsMax = retryAfterMs.length + 1
const failureLengthMax = 300

export interface MediaWorkerDeps {
  readonly platform: Platform
  readonly channels: Pick<ChannelService, 'find' | 'openMedia'>
  readonly incoming: Incoming
  readonly storage: Storage
}

export interface MediaCopier {
  readonly worker: Worker
  /** Gives up what is under way: it is copied again by whoever comes next. */
  stop(): Promise<void>
}

export function mediaCopier(deps: MediaWorkerDeps): MediaCopier {
  const { platform } = deps
  const { pool, clock, process_id } = platform
  const inHand = new Map<string, { readonly row: InboundMediaRow; readonly done: Promise<void> }>()
  const stopping = new AbortController()

  async function carry(row: InboundMediaRow): Promise<void> {
    try {
      await copy(deps, row, stopping.signal)
    } catch (error) {
      platform.storage.failed(error)
      platform.log.error(
        { err: error, media_id: row.id },
        'what became of a file that came in could not be written; it is copied again later',
      )
    } finally {
      inHand.delete(row.id)
      platform.wake('media')
    }
  }

  return {
    worker: {
      name: 'media',
      idle_ms: 1000,
      async tick() {
        if (inHand.size >= atOnceMax || stopping.signal.aborted) return 0
        const now = clock.now()
        const rows = await store.claimMedia(pool, {
          process_id,
          now: isoTime(now),
          until: isoTime(now + claimMs),
          silent_since: isoTime(now - limits.process_silent_ms),
          rows_max: atOnceMax - inHand.size,
          channel_rows_max: atOncePerChannelMax,
          account_rows_max: atOncePerAccountMax,
          busy: [...inHand.values()].map(({ row }) => row),
        })
        // after a jump of the clock one's own claims look as if they were lost
        const fresh = rows.filter(({ id }) => !inHand.has(id))
        for (const row of fresh) inHand.set(row.id, { row, done: carry(row) })
        return fresh.length
      },
    },
    async stop() {
      stopping.abort(new Error('the service stops'))
      await Promise.all([...inHand.values()].map(({ done }) => done))
    },
  }
}

/** Copies one file, and writes what came of it. */
async function copy(
  { platform, channels, incoming, storage }: MediaWorkerDeps,
  row: InboundMediaRow,
  stopping: AbortSignal,
): Promise<void> {
  const { pool, clock, process_id, log } = platform
  if (row.attempts > attemptsMax) {
    log.warn(
      { media_id: row.id, channel_id: row.channel_id, attempts: attemptsMax },
      'a file is given up: each process that copied it ended before it was done',
    )
    return void (await store.settleMedia(pool, row.id, process_id, { failure: null }))
  }
  try {
    const channel = await channels.find(row, row.channel_id)
    // its credentials went with it
    if (channel === null)
      return void (await store.settleMedia(pool, row.id, process_id, { failure: 'Its channel was deleted before.' }))
    const copied = await withDeadline(clock, copyTimeoutMs, async (deadline) => {
      const signal = AbortSignal.any([deadline, stopping])
      const bytes_max = bytesMaxOf(row.kind)
      const { content_type: told, chunks } = await channels.openMedia(channel, row.reference!, bytes_max, signal)
      const content_type = contentType(told)
      const { path, bytes } = await incoming.write(row.id, untilAborted(chunks, signal), bytes_max, signal)
      await storage.keep(row.id, path, bytes, content_type, signal).finally(() => incoming.discard(path))
      return { store: storage.name, bucket: storage.bucket, content_type, bytes }
    })
    await store.settleMedia(pool, row.id, process_id, copied)
  } catch (error) {
    if (stopping.aborted) return await store.postponeMedia(pool, row.id, process_id, isoTime(clock.now()), false)
    platform.storage.failed(error)
    const lasting = error instanceof PermanentError
    const wait_ms = lasting ? undefined : retryAfterMs[row.attempts - 1]
    const message = error instanceof Error ? error.message : String(error)
    log.warn(
      { media_id: row.id, channel_id: row.channel_id, attempts: row.attempts, gives_up: wait_ms === undefined },
      `a file could not be copied: ${message}`,
    )
    if (wait_ms === undefined)
      await store.settleMedia(pool, row.id, process_id, {
        failure: lasting ? message.slice(0, failureLengthMax) : null,
      })
    else await store.postponeMedia(pool, row.id, process_id, isoTime(clock.now() + wait_ms), true)
  }
}

/** A source that hangs must not hold its copy: the next piece is awaited until the signal aborts. */
async function* untilAborted(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const source = chunks[Symbol.asyncIterator]()
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  aborted.catch(() => undefined)
  const onAbort = () => reject(signal.reason as Error)
  signal.addEventListener('abort', onAbort)
  try {
    for (;;) {
      signal.throwIfAborted()
      const next = await Promise.race([source.next(), aborted])
      if (next.done === true) return
      yield next.value
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
    void source.return?.().catch(() => undefined)
  }
}

/** What a provider says that a file is, where it is the name of a type. */
const contentType = (told: string): string =>
  /^[a-z0-9][\w.+-]{0,60}\/[a-z0-9][\w.+-]{0,60}$/i.exec(told.split(';')[0]!.trim())?.[0].toLowerCase() ??
  'application/octet-stream'

/** What processes that were killed had begun to write. */
export async function discardUnfinished({ pool }: Platform, incoming: Incoming): Promise<number> {
  const begun = await incoming.list()
  const waiting = await store.stillWaiting(
    pool,
    begun.map(({ id }) => id),
  )
  const left = begun.filter(({ id }) => !waiting.has(id))
  for (const { path } of left) await incoming.discard(path)
  return left.length
}
