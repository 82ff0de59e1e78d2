/** The worker `imports`: claims an import and applies its chunks in order. */
import { limits } from '../../../api/limits.ts'
import type { ContactImportRow } from './import.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Worker } from '../../../platform/jobs/worker.ts'
import { transact } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import { withConflictRetries } from '../contact-locks.ts'
import { applyChunk, parseChunk, dependsOn, type ParsedChunk } from './chunk.ts'
import * as repository from './repository.ts'

const chunksPerRun = 20
/** One chunk is prepared while PostgreSQL works on the other. */
const atOnce = 2
const leaseMs = 60_000
const failuresMax = 20
const failed = {
  code: 'internal_error',
  message:
    'Some rows could not be applied for a reason on our side. The rows before them are applied; start another import with the rest.',
}

export function importsWorker(platform: Platform): Worker {
  const { pool, clock, process_id } = platform
  let after_account = ''
  return {
    name: 'imports',
    poll_every_ms: 2000,
    async tick(stopping) {
      const now = clock.now()
      const job = await repository.claimJob(pool, {
        process_id,
        at: isoTime(now),
        lease_until: isoTime(now + leaseMs),
        alive_since: isoTime(now - limits.process_silent_ms),
        after_account,
      })
      if (job === null) return 0
      after_account = job.account_id
      return await workOn(platform, job, stopping)
    },
  }
}

async function workOn(platform: Platform, job: repository.Job, stopping: AbortSignal | undefined): Promise<number> {
  const { pool, clock, process_id } = platform
  let done = false
  try {
    const row = await repository.findImport(pool, job, job.import_id)
    const applied = row === null ? 0 : await work(platform, row, stopping)
    done = true
    return applied
  } catch (error) {
    if (await repository.countFailure(pool, job.import_id, process_id, failuresMax))
      await transact(pool, (tx) => repository.failImport(tx, job, job.import_id, failed, isoTime(clock.now())))
    throw error
  } finally {
    await repository.releaseJob(pool, job.import_id, process_id, done)
  }
}

interface Run {
  readonly row: ContactImportRow
  readonly running: Map<Promise<void>, ParsedChunk>
  readonly failures: unknown[]
  expect_new: boolean
}

async function work(platform: Platform, row: ContactImportRow, stopping: AbortSignal | undefined): Promise<number> {
  const run: Run = { row, running: new Map(), failures: [], expect_new: row.updated === 0 }
  const { running, failures } = run
  const started = await startChunks(platform, run, stopping).catch((error: unknown) => {
    failures.push(error)
    return { chunks: 0, ended: false }
  })
  await Promise.all(running.keys())
  if (failures.length > 0) throw failures[0]
  if (started.ended)
    await transact(platform.pool, (tx) => repository.finishImport(tx, row, row.id, isoTime(platform.clock.now())))
  return Math.max(started.chunks, 1)
}

async function startChunks(
  platform: Platform,
  run: Run,
  stopping: AbortSignal | undefined,
): Promise<{ chunks: number; ended: boolean }> {
  const { row, running, failures } = run
  let after = -1
  for (let chunks = 0; chunks < chunksPerRun; chunks++) {
    if (stopping?.aborted === true) return { chunks, ended: false }
    const next = await repository.nextChunk(platform.pool, row.id, after)
    if (next === null) return { chunks, ended: true }
    const chunk = parseChunk(next, row)
    after = chunk.number
    while (running.size >= atOnce || [...running.values()].some((other) => dependsOn(chunk, other)))
      await Promise.race(running.keys())
    if (failures.length > 0) return { chunks, ended: false }
    const task: Promise<void> = apply(platform, run, chunk)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => running.delete(task))
    running.set(task, chunk)
  }
  return { chunks: chunksPerRun, ended: false }
}

async function apply(platform: Platform, run: Run, chunk: ParsedChunk): Promise<void> {
  const { row, expect_new } = run
  const done = await withConflictRetries(platform.pool, async (tx) => {
    // another process may have rescued the import while this one was stalled
    if (!(await repository.lockJob(tx, row.id, platform.process_id))) return null
    return await applyChunk(platform, tx, row, chunk, { at: isoTime(platform.clock.now()), expect_new })
  })
  if (done !== null) run.expect_new = done.updated === 0
}
