/** Idempotency-Keys of requests that send: they are kept in the statement that accepts, so these requests look after their keys themselves (docs/decisions/idempotency-modes.md). */
import { limits } from '../../contract/limits.ts'
import { Problem } from '../../contract/problem.ts'
import { isoTime } from '../../lib/clock.ts'
import {
  findKey,
  inFlight,
  isStoredRefusal,
  sameRequest,
  storedRefusal,
  type InFlight,
  type KeyedRequest,
  type KeyRow,
} from '../../platform/http/idempotency.ts'
import { transact } from '../../platform/database/sql.ts'
import type { Platform } from '../../platform/platform.ts'
import { storeReplies, takeKeys } from './ingest/locking-store.ts'

/** A keyed request of the answer `A`. */
export interface KeyedWork<A> {
  readonly request: KeyedRequest
  /** Resolves to a Problem that has been kept under the key, and to `known` where the key was used before; throws what was refused before anything was submitted. */
  attempt(): Promise<A | Problem | 'known'>
  /** What the first request was answered; throws its refusal. The row is of the same request, and complete. */
  replay(row: KeyRow): Promise<A>
}

export interface RequestKeys {
  /** Runs keyed work: twins in this process are refused, refusals that the operation decided are kept, a known key is replayed. */
  run<A>(work: KeyedWork<A>): Promise<A>
}

export function requestKeys(platform: Platform): RequestKeys {
  const running: InFlight = inFlight()
  return {
    async run(work) {
      const { request } = work
      running.enter(request)
      try {
        const answer = await work.attempt().catch((error: unknown) => refusedBefore(platform, request, error))
        if (answer instanceof Problem) throw answer
        if (answer !== 'known') return answer
        const row = await knownKey(platform, request)
        if (row === null) throw new Problem('idempotency_key_in_use')
        sameRequest(row, request)
        if (row.status === null) throw new Problem('idempotency_key_in_use')
        return await work.replay(row)
      } finally {
        running.leave(request)
      }
    },
  }
}

/** Keeps a refusal and throws it, unless the key is known: it goes before the shape, so that a known one decides. */
async function refusedBefore(platform: Platform, request: KeyedRequest, error: unknown): Promise<'known'> {
  if (!(error instanceof Problem)) throw error
  if ((await knownKey(platform, request)) !== null) return 'known'
  const overtaken = isStoredRefusal(error) && !(await keepRefusal(platform, request, error))
  if (overtaken && (await knownKey(platform, request)) !== null) return 'known'
  throw error
}

async function knownKey({ pool, clock }: Platform, request: KeyedRequest): Promise<KeyRow | null> {
  const row = await findKey(pool, request)
  return row === null || Date.parse(row.created_at) <= clock.now() - limits.idempotency_window_ms ? null : row
}

/** False where a twin in another process was quicker: its answer is the one that stands. */
async function keepRefusal({ pool, clock }: Platform, request: KeyedRequest, problem: Problem): Promise<boolean> {
  const at_ms = clock.now()
  return await transact(pool, async (tx) => {
    const taken = await takeKeys(tx, [request], isoTime(at_ms), isoTime(at_ms - limits.idempotency_window_ms))
    if (taken.size > 0) await storeReplies(tx, [{ ...request, status: problem.status, message_id: null, response: storedRefusal(problem) }])
    return taken.size > 0
  })
}
