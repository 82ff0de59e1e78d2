/** Idempotency-Keys of requests that send: they are kept in the statement that accepts, so these requests look after their keys themselves (docs/decisions/idempotency-modes.md). */
import { Problem } from '../../../api/problem.ts'
import { inFlight, isStoredRefusal, knownKey, oneAtATime, storedRefusal } from '../../../platform/http/idempotency.ts'
import { keepReply, type KeyedRequest, type KeyRow } from '../../../platform/http/idempotency-store.ts'
import type { Platform } from '../../../platform/platform.ts'

/** A keyed request of the answer `A`. */
export interface KeyedWork<A> {
  readonly request: KeyedRequest
  /** Resolves to a Problem that has been kept under the key, and to `known` where the key was used before; throws what was refused before anything was submitted. */
  attempt(): Promise<A | Problem | 'known'>
  /** What the first request was answered; throws its refusal. The row is of the same request, and complete. */
  replay(row: KeyRow): Promise<A>
}

export interface RequestKeys {
  /** Runs keyed work: a twin of one that runs in this process is refused, refusals that the operation decided are kept, a known key is replayed. */
  run<A>(work: KeyedWork<A>): Promise<A>
  /** Keeps the answer of a request that submits nothing. False where a twin in another process was quicker: its answer is the one that stands. */
  keep(request: KeyedRequest, answer: KeptAnswer): Promise<boolean>
}

/** What a key answers from now on. */
export interface KeptAnswer {
  readonly status: number
  readonly response: object
}

const keep = ({ pool, clock, ageing }: Platform, request: KeyedRequest, answer: KeptAnswer): Promise<boolean> =>
  keepReply(pool, request, answer, clock.now(), ageing.now())

export function requestKeys(platform: Platform): RequestKeys {
  const flights = inFlight()
  return {
    keep: (request, answer) => keep(platform, request, answer),
    run: (work) =>
      oneAtATime(platform, flights, work.request, {
        first: () => firstOrKnown(platform, work),
        again: (row) => work.replay(row),
      }),
  }
}

async function firstOrKnown<A>(platform: Platform, work: KeyedWork<A>): Promise<A | 'known'> {
  const answer = await work.attempt().catch((error: unknown) => refusedBefore(platform, work.request, error))
  if (answer instanceof Problem) throw answer
  return answer
}

/** Keeps a refusal and throws it, unless the key is known: it goes before the shape, so that a known one decides. */
async function refusedBefore(platform: Platform, request: KeyedRequest, error: unknown): Promise<'known'> {
  if (!(error instanceof Problem)) throw error
  if ((await knownKey(platform, request)) !== null) return 'known'
  const overtaken =
    isStoredRefusal(error) && !(await keep(platform, request, { status: error.status, response: storedRefusal(error) }))
  if (overtaken && (await knownKey(platform, request)) !== null) return 'known'
  throw error
}
