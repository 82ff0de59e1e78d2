/**
 * The worker `media`: copies inbound files from providers, with limits per process, account and channel, and retries
 * for ten minutes.
 */
import { withDeadline, isoTime } from '../../lib/clock.ts'
import { PermanentError } from '../../lib/http-client.ts'
import type { Worker } from '../../platform/jobs/worker.ts'
import { limits } from '../../api/limits.ts'
import type { Platform } from '../../platform/platform.ts'
import type { ChannelService } from '../channels/service.ts'
import type { Incoming, Storage } from './storage.ts'
import * as store from './repository.ts'
import type { InboundMediaRow } from './repository.ts'
import { bytesMaxOf } from './file-types.ts'

const atOnceMax = 16
const atOncePerChannelMax = 3
const atOncePerAccountMax = 6
const copyTimeoutMs = 180_000
/** Longer than a copy may take; then another process may claim it. */
const claimMs = copyTimeoutMs + 60_000
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
  /** Aborts copies in progress; another process repeats them. */
  stop(): Promise<void>
}

export function mediaCopier(deps: MediaWorkerDeps): MediaCopier {
  const { platform } = deps
  const { pool, clock, process_id } = platform
  const inProgress = new Map<string, { readonly row: InboundMediaRow; readonly done: Promise<void> }>()
  const stopping = new AbortController()

  async function copyAndRecord(row: InboundMediaRow): Promise<void> {
    try {
      await copy(deps, row, stopping.signal)
    } catch (error) {
      platform.storage.failed(error)
      platform.log.error(
        { err: error, media_id: row.id },
        'the result of a copy could not be stored; the file is copied again later',
      )
    } finally {
      inProgress.delete(row.id)
      platform.wake('media')
    }
  }

  return {
    worker: {
      name: 'media',
      poll_every_ms: 1000,
      async tick() {
        if (inProgress.size >= atOnceMax || stopping.signal.aborted) return 0
        const now = clock.now()
        const rows = await store.claimMedia(pool, {
          process_id,
          now: isoTime(now),
          until: isoTime(now + claimMs),
          silent_since: isoTime(now - limits.process_silent_ms),
          rows_max: atOnceMax - inProgress.size,
          channel_rows_max: atOncePerChannelMax,
          account_rows_max: atOncePerAccountMax,
          busy: [...inProgress.values()].map(({ row }) => row),
        })
        // after a clock jump, this process's own claims may look expired
        const fresh = rows.filter(({ id }) => !inProgress.has(id))
        for (const row of fresh) inProgress.set(row.id, { row, done: copyAndRecord(row) })
        return fresh.length
      },
    },
    async stop() {
      stopping.abort(new Error('the service stops'))
      await Promise.all([...inProgress.values()].map(({ done }) => done))
    },
  }
}

async function copy(
  { platform, channels, incoming, storage }: MediaWorkerDeps,
  row: InboundMediaRow,
  stopping: AbortSignal,
): Promise<void> {
  const { pool, clock, process_id, log } = platform
  if (row.attempts > attemptsMax) {
    log.warn(
      { media_id: row.id, channel_id: row.channel_id, attempts: attemptsMax },
      'a file has failed: every process that copied it ended before it was done',
    )
    return void (await store.completeMedia(pool, row.id, process_id, { failure: null }))
  }
  try {
    const channel = await channels.find(row, row.channel_id)
    if (channel === null)
      return void (await store.completeMedia(pool, row.id, process_id, { failure: 'Its channel was deleted.' }))
    if ((await store.storedBytes(pool, row, 0)) >= platform.settings.media_stored_bytes_max)
      return void (await store.completeMedia(pool, row.id, process_id, {
        failure: 'The files of this account take up all the storage that it may use.',
      }))
    const copied = await withDeadline(clock, copyTimeoutMs, async (deadline) => {
      const signal = AbortSignal.any([deadline, stopping])
      const bytes_max = bytesMaxOf(row.kind)
      const { content_type: reported, chunks } = await channels.openMedia(channel, row.reference!, bytes_max, signal)
      const content_type = contentType(reported)
      const { path, bytes } = await incoming.write(row.id, untilAborted(chunks, signal), bytes_max, signal)
      await storage.store(row.id, path, bytes, content_type, signal).finally(() => incoming.discard(path))
      return { store: storage.name, bucket: storage.bucket, content_type, bytes }
    })
    await store.completeMedia(pool, row.id, process_id, copied)
  } catch (error) {
    if (stopping.aborted) return await store.postponeMedia(pool, row.id, process_id, isoTime(clock.now()), false)
    platform.storage.failed(error)
    const isPermanent = error instanceof PermanentError
    const wait_ms = isPermanent ? undefined : retryAfterMs[row.attempts - 1]
    const message = error instanceof Error ? error.message : String(error)
    log.warn(
      { media_id: row.id, channel_id: row.channel_id, attempts: row.attempts, gives_up: wait_ms === undefined },
      `a file could not be copied: ${message}`,
    )
    if (wait_ms === undefined)
      await store.completeMedia(pool, row.id, process_id, {
        failure: isPermanent ? message.slice(0, failureLengthMax) : null,
      })
    else await store.postponeMedia(pool, row.id, process_id, isoTime(clock.now() + wait_ms), true)
  }
}

/** Ends at the signal even if the source hangs. */
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

/** The provider's, if it is valid. */
const contentType = (reported: string): string =>
  /^[a-z0-9][\w.+-]{0,60}\/[a-z0-9][\w.+-]{0,60}$/i.exec(reported.split(';')[0]!.trim())?.[0].toLowerCase() ??
  'application/octet-stream'

/** Left by killed processes. */
export async function discardUnfinished({ pool }: Platform, incoming: Incoming): Promise<number> {
  const begun = await incoming.list()
  const waiting = await store.listUnfinished(
    pool,
    begun.map(({ id }) => id),
  )
  const left = begun.filter(({ id }) => !waiting.has(id))
  for (const { path } of left) await incoming.discard(path)
  return left.length
}
