/** The worker `imports`: takes an import, applies its pieces in order, and gives it back after a while so that others get their turn. */
import { limits } from '../../../api/limits.ts'
import type { ContactImportRow } from './import.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Worker } from '../../../platform/jobs/worker.ts'
import { transact } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import { withRaces } from '../contact-locks.ts'
import { applyPiece, cutPiece, dependsOn, type CutPiece } from './chunk.ts'
import * as repository from './repository.ts'

/** Pieces of one pass. */
const piecesPerPass = 20
/** Pieces applied at once: while PostgreSQL works on one, this process prepares the other. */
const atOnce = 2
const leaseMs = 60_000
/** Passes that may fail in a row before an import is given up: what is wrong then will not pass. */
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
    idle_ms: 2000,
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

/** One turn of an import, which is given back afterwards; resolves to the pieces applied. */
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

/** What the pieces of a pass share. */
interface Pass {
  readonly row: ContactImportRow
  readonly running: Map<Promise<void>, CutPiece>
  readonly failures: unknown[]
  /** Nobody in the last piece was known. */
  expect_new: boolean
}

/** One pass of an import; resolves to the pieces applied, or 1 where it only ended. */
async function work(platform: Platform, row: ContactImportRow, stopping: AbortSignal | undefined): Promise<number> {
  const pass: Pass = { row, running: new Map(), failures: [], expect_new: row.updated === 0 }
  const { running, failures } = pass
  const started = await startPieces(platform, pass, stopping).catch((error: unknown) => {
    failures.push(error)
    return { pieces: 0, ended: false }
  })
  await Promise.all(running.keys())
  if (failures.length > 0) throw failures[0]
  if (started.ended)
    await transact(platform.pool, (tx) => repository.finishImport(tx, row, row.id, isoTime(platform.clock.now())))
  return Math.max(started.pieces, 1)
}

/** Starts pieces in order, as many at once as may be; `ended` when none is left to start. */
async function startPieces(
  platform: Platform,
  pass: Pass,
  stopping: AbortSignal | undefined,
): Promise<{ pieces: number; ended: boolean }> {
  const { row, running, failures } = pass
  let after = -1
  for (let pieces = 0; pieces < piecesPerPass; pieces++) {
    if (stopping?.aborted === true) return { pieces, ended: false }
    const next = await repository.nextPiece(platform.pool, row.id, after)
    if (next === null) return { pieces, ended: true }
    const piece = cutPiece(next, row)
    after = piece.number
    while (running.size >= atOnce || [...running.values()].some((other) => dependsOn(piece, other)))
      await Promise.race(running.keys())
    if (failures.length > 0) return { pieces, ended: false }
    const task: Promise<void> = apply(platform, pass, piece)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => running.delete(task))
    running.set(task, piece)
  }
  return { pieces: piecesPerPass, ended: false }
}

async function apply(platform: Platform, pass: Pass, piece: CutPiece): Promise<void> {
  const { row, expect_new } = pass
  const done = await withRaces(platform.pool, async (tx) => {
    // another process may have taken the import over while this one stood still
    if (!(await repository.holdJob(tx, row.id, platform.process_id))) return null
    return await applyPiece(platform, tx, row, piece, { at: isoTime(platform.clock.now()), expect_new })
  })
  if (done !== null) pass.expect_new = done.updated === 0
}
