/**
 * Deletes files after their retention period; failures are retried, reported, and finally dropped
 * (behaviour: channels 8.7).
 */
import { isoTime } from '../../lib/clock.ts'
import { untilDone } from '../../platform/jobs/periodic-jobs.ts'
import type { PeriodicJob, Invariant, Platform } from '../../platform/platform.ts'
import { type Incoming, FileMissing, type Storage } from './storage.ts'
import * as store from './repository.ts'
import type { OldMedia } from './repository.ts'
import { discardUnfinished } from './copies.ts'

const hourMs = 3600_000
const dayMs = 24 * hourMs
const removedAtOnce = 200
/** Longer than any upload takes. */
const abandonedAfterMs = hourMs
const failuresMax = 10
const retryAfterMs = dayMs
/** A deletion this late means that something is wrong. */
const overdueAfterMs = 2 * dayMs
/** Rows of files in a bucket that is no longer configured are dropped this long after their retention. */
const forgottenAfterMs = 90 * dayMs

export type StorageOf = (name: 'folder' | 's3') => Storage | undefined

export const mediaPeriodicJobs = (platform: Platform, incoming: Incoming, storageOf: StorageOf): PeriodicJob[] => [
  { name: 'delete-old-media', every_ms: hourMs, run: () => removeAllOld(platform, storageOf) },
  { name: 'discard-unfinished-media', every_ms: 600_000, run: () => discardUnfinished(platform, incoming) },
]

export const mediaInvariants = (platform: Platform): Invariant[] => [
  {
    name: 'old files are removed',
    breaches: async (sql) =>
      (await store.countMediaBefore(sql, isoTime(endOfRetention(platform) - overdueAfterMs))).map(
        ({ store: name, bucket, files }) => {
          const place = name === 'folder' ? 'the data folder' : `the bucket ${bucket ?? 'of POSTHORN_MEDIA_S3_URL'}`
          const advice =
            name === 's3' && platform.settings.media_s3?.url !== bucket
              ? `It is no longer configured: set POSTHORN_MEDIA_S3_URL to it until they are gone, or remove them there by hand; ${forgottenAfterMs / dayMs} days after their retention period they are forgotten.`
              : 'The log says why they cannot be removed.'
          return `${files} inbound files should have been removed from ${place} by now. ${advice}`
        },
      ),
  },
]

const endOfRetention = ({ retention_clock, settings }: Platform): number =>
  retention_clock.now() - settings.media_retention_days * dayMs

async function removeAllOld(platform: Platform, storageOf: StorageOf): Promise<number> {
  const removed = await untilDone(platform.clock, removedAtOnce, () => removeOld(platform, storageOf))
  const overdue = await store.countMediaBefore(platform.pool, isoTime(endOfRetention(platform)))
  platform.metrics.media_overdue.set(overdue.reduce((sum, { files }) => sum + files, 0))
  return removed
}

/** The file is deleted before its row. If that fails, the row is deferred. */
async function removeOld(platform: Platform, storageOf: StorageOf): Promise<number> {
  const { pool, clock, retention_clock, log } = platform
  const before_ms = endOfRetention(platform)
  const now = isoTime(clock.now())
  const abandoned = await store.listAbandonedUploads(
    pool,
    isoTime(retention_clock.now() - abandonedAfterMs),
    now,
    removedAtOnce,
  )
  const old = [...abandoned, ...(await store.listOldMedia(pool, isoTime(before_ms), now, removedAtOnce))]
  const [removed, stranded, failed]: [OldMedia[], OldMedia[], OldMedia[]] = [[], [], []]
  const failures: unknown[] = []
  for (const row of old) {
    if (failures.length === failuresMax) break
    try {
      const place = (await removeFile(row, storageOf)) ? removed : stranded
      place.push(row)
    } catch (error) {
      failed.push(row)
      failures.push(error)
    }
  }
  const forgotten = stranded.filter(({ created_at }) => Date.parse(created_at) < before_ms - forgottenAfterMs)
  const idsOf = (rows: readonly OldMedia[]) => rows.map(({ id }) => id)
  await store.deleteMedia(pool, idsOf([...removed, ...forgotten]))
  await store.deferRemoval(pool, idsOf([...stranded, ...failed]), isoTime(clock.now() + retryAfterMs))
  for (const bucket of new Set(stranded.map((row) => row.bucket))) {
    const [left, given_up] = [stranded, forgotten].map((rows) => rows.filter((row) => row.bucket === bucket).length)
    log.warn(
      { bucket, files: left, forgotten: given_up },
      'inbound files cannot be removed: their bucket is no longer configured',
    )
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} inbound files could not be removed`)
  return old.length
}

/**
 * False if its bucket is not configured. A bucket may have changed its address, so the configured one is tried first.
 */
async function removeFile({ id, store: name, bucket }: OldMedia, storageOf: StorageOf): Promise<boolean> {
  if (name === null) return true
  const storage = storageOf(name)
  if (storage === undefined || (bucket !== null && storage.bucket !== bucket && !(await isStored(storage, id))))
    return false
  await storage.remove(id)
  return true
}

async function isStored(storage: Storage, id: string): Promise<boolean> {
  const over = new AbortController()
  try {
    const file = await storage.read(id, { first: 0, last: 0 }, over.signal)
    file.on('error', () => undefined).destroy()
    return true
  } catch (error) {
    if (error instanceof FileMissing) return false
    throw error
  } finally {
    over.abort()
  }
}
