/** How files end: removed from where they were kept once their retention is over; what cannot be removed is kept in mind, told, and in the end forgotten (behaviour: channels 8.7). */
import { isoTime } from '../../lib/clock.ts'
import { untilDone } from '../../platform/jobs/periodic-jobs.ts'
import type { PeriodicJob, Invariant, Platform } from '../../platform/platform.ts'
import type { Incoming } from './folder.ts'
import { NotKept, type Storage } from './storage.ts'
import * as store from './store.ts'
import type { OldMedia } from './store.ts'
import { discardUnfinished } from './worker.ts'

const hourMs = 3600_000
const dayMs = 24 * hourMs
const removedAtOnce = 200
/** Before what is left of an upload that ended with its process is removed: longer than any takes. */
const abandonedAfterMs = hourMs
/** A storage that fails so often in one pass is left alone until the next. */
const failuresMax = 10
/** Before what could not be removed is tried again. */
const againAfterMs = dayMs
/** Longer than any file waits for its removal where nothing is wrong. */
const overdueAfterMs = 2 * dayMs
/** So long after its retention a file whose bucket nobody configures is forgotten. */
const forgottenAfterMs = 90 * dayMs

export type StorageOf = (name: 'folder' | 's3') => Storage | undefined

export const mediaPeriodicJobs = (platform: Platform, incoming: Incoming, storageOf: StorageOf): PeriodicJob[] => [
  { name: 'old media', every_ms: hourMs, run: () => removeAllOld(platform, storageOf) },
  { name: 'unfinished media', every_ms: 600_000, run: () => discardUnfinished(platform, incoming) },
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
              ? `It is not configured any more: set POSTHORN_MEDIA_S3_URL to it until they are gone, or remove them there by hand; ${forgottenAfterMs / dayMs} days after their retention they are forgotten.`
              : 'The log says why they cannot be removed.'
          return `${files} files that came in should have been removed from ${place} by now. ${advice}`
        },
      ),
  },
]

/** Files that came in before then are to be removed. */
const endOfRetention = ({ ageing, settings }: Platform): number => ageing.now() - settings.media_retention_days * dayMs

async function removeAllOld(platform: Platform, storageOf: StorageOf): Promise<number> {
  const removed = await untilDone(platform.clock, removedAtOnce, () => removeOld(platform, storageOf))
  const overdue = await store.countMediaBefore(platform.pool, isoTime(endOfRetention(platform)))
  platform.metrics.media_overdue.set(overdue.reduce((sum, { files }) => sum + files, 0))
  return removed
}

/** The file first: where its removal fails the row stays, and gives way to others until it is tried again. */
async function removeOld(platform: Platform, storageOf: StorageOf): Promise<number> {
  const { pool, clock, ageing, log } = platform
  const before_ms = endOfRetention(platform)
  const now = isoTime(clock.now())
  const abandoned = await store.listAbandonedUploads(pool, isoTime(ageing.now() - abandonedAfterMs), now, removedAtOnce)
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
  await store.deferRemoval(pool, idsOf([...stranded, ...failed]), isoTime(clock.now() + againAfterMs))
  for (const bucket of new Set(stranded.map((row) => row.bucket))) {
    const [left, given_up] = [stranded, forgotten].map((rows) => rows.filter((row) => row.bucket === bucket).length)
    log.warn(
      { bucket, files: left, forgotten: given_up },
      'files that came in cannot be removed: their bucket is not configured any more',
    )
  }
  if (failures.length > 0)
    throw new AggregateError(failures, `${failures.length} files that came in could not be removed`)
  return old.length
}

/** False where it lies in a bucket that is not configured: another one is asked first whether it has the file, for a bucket may have got another address. */
async function removeFile({ id, store: name, bucket }: OldMedia, storageOf: StorageOf): Promise<boolean> {
  if (name === null) return true
  const storage = storageOf(name)
  if (storage === undefined || (bucket !== null && storage.bucket !== bucket && !(await isKept(storage, id))))
    return false
  await storage.remove(id)
  return true
}

async function isKept(storage: Storage, id: string): Promise<boolean> {
  const over = new AbortController()
  try {
    const file = await storage.read(id, { first: 0, last: 0 }, over.signal)
    file.on('error', () => undefined).destroy()
    return true
  } catch (error) {
    if (error instanceof NotKept) return false
    throw error
  } finally {
    over.abort()
  }
}
