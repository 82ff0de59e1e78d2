/** One channel's session while this process holds it: opened, opened again when it ends, later and later, and closed in order. */
import { withDeadline } from '../../lib/clock.ts'
import type { Platform } from '../../platform/platform.ts'
import type { ProviderAdapter, Connection, Session, StoreItems } from '../../providers/provider.ts'

/** How a session stands. */
export type Standing =
  | { readonly kind: 'open'; readonly session: Session }
  /** Not open since then, by the elapsed time; `refused`: the provider does not take the credentials. */
  | { readonly kind: 'down'; readonly since_ms: number; readonly refused: boolean }

export interface HeldSession {
  standing(): Standing
  /** Resolves when the attempt to open that is under way has come to something. */
  settled(): Promise<void>
  /** Opens it anew, at once: somebody knows better how it stands. */
  retry(): void
  /** Closes it for good; what is under way is awaited for a few seconds, and for `most_ms` at most: it is closed then. Never rejects. */
  stop(most_ms: number): Promise<void>
}

export interface HeldSessionDeps {
  readonly platform: Pick<Platform, 'clock' | 'log'>
  readonly open: NonNullable<ProviderAdapter['openSession']>
  readonly connection: Connection
  readonly tell: StoreItems
  /** Whether this process is sure that the session is its own: nothing is sent else. */
  readonly isOwn: () => boolean
  /** Called whenever it opened or ended. */
  changed(): void
}

const openTimeoutMs = 20_000
const closeTimeoutMs = 5_000
/** Opened again after one second, two, four, … and then once a minute (behaviour: channels 4.2). */
const firstWaitMs = 1000
const waitMaxMs = 60_000
/** A session that ended sooner counts as one that could not be opened. */
const lastedMs = 60_000

interface State extends HeldSessionDeps {
  standing: Standing
  failures: number
  /** The attempt under way. */
  opening: Promise<void>
  readonly stopping: AbortController
  /** Nothing is awaited any more. */
  readonly over: AbortController
  /** Ends the session or the wait for the next one. */
  again: AbortController
}

export function heldSession(deps: HeldSessionDeps): HeldSession {
  const state: State = {
    ...deps,
    standing: { kind: 'down', since_ms: deps.platform.clock.elapsed(), refused: false },
    failures: 0,
    opening: Promise.resolve(),
    stopping: new AbortController(),
    over: new AbortController(),
    again: new AbortController(),
  }
  const kept = keep(state).catch((error: unknown) =>
    deps.platform.log.error({ err: error, channel_id: deps.connection.channel_id }, 'a session is not kept any more'),
  )
  return {
    standing: () => state.standing,
    settled: () => state.opening,
    retry() {
      state.failures = 0
      if (state.standing.kind === 'down')
        state.standing = { kind: 'down', since_ms: deps.platform.clock.elapsed(), refused: false }
      state.again.abort()
    },
    async stop(most_ms) {
      const closed = new AbortController()
      const { clock } = deps.platform
      if (most_ms <= 0) state.over.abort()
      else void clock.sleep(most_ms, closed.signal).then(() => state.over.abort())
      state.stopping.abort()
      await kept
      closed.abort()
    },
  }
}

async function keep(state: State): Promise<void> {
  const { clock } = state.platform
  const { signal } = state.stopping
  while (!signal.aborted) {
    state.again = new AbortController()
    const began_ms = clock.elapsed()
    const attempt = openOnce(state)
    state.opening = attempt.then(() => undefined)
    const session = await attempt
    if (session !== undefined) await whileOpen(state, session)
    if (clock.elapsed() - began_ms >= lastedMs) state.failures = 0
    const wait_ms = Math.min(firstWaitMs * 2 ** Math.min(state.failures, 10), waitMaxMs)
    state.failures += 1
    if (!state.again.signal.aborted) await clock.sleep(wait_ms, AbortSignal.any([signal, state.again.signal]))
    else state.failures = 0
  }
}

/** Resolves to the session, or undefined where there is none yet. */
async function openOnce(state: State): Promise<Session | undefined> {
  const { platform, connection, stopping } = state
  const opened = await withDeadline(platform.clock, openTimeoutMs, (deadline) =>
    openWithin(state, AbortSignal.any([deadline, stopping.signal])),
  ).catch((error: unknown) => {
    platform.log.error({ err: error, channel_id: connection.channel_id }, 'a provider failed to open a session')
    return { kind: 'unavailable' as const, message: 'The session could not be opened.' }
  })
  if (opened.kind === 'open') {
    state.standing = { kind: 'open', session: opened.session }
    state.changed()
    return opened.session
  }
  fall(state, opened.kind === 'refused', opened.message)
  return undefined
}

/** As the adapter opens it; one that opens after its time is closed again. */
async function openWithin(
  { open, connection, tell, isOwn }: State,
  signal: AbortSignal,
): ReturnType<NonNullable<ProviderAdapter['openSession']>> {
  const opening = open(connection, { store: tell, signal, hasLease: isOwn })
  const given = await Promise.race([opening, aborted(signal)])
  if (given !== undefined) return given
  void opening.then((late) => (late.kind === 'open' ? late.session.close(signal) : undefined)).catch(() => undefined) // nobody waits for it any more
  return { kind: 'unavailable', message: 'The provider did not answer in time.' }
}

/** Resolves when the session has ended, or was to end. */
async function whileOpen(state: State, session: Session): Promise<void> {
  const { platform, connection, stopping, again, over } = state
  const unawaited = new AbortController()
  const ended = await Promise.race([
    session.ended,
    aborted(AbortSignal.any([stopping.signal, again.signal]), unawaited.signal),
  ])
  unawaited.abort()
  if (ended !== undefined) return fall(state, ended.refused, ended.message)
  // nothing goes through it from here on
  fall(state, false, 'It is closed.')
  await withDeadline(platform.clock, closeTimeoutMs, async (deadline) => {
    const signal = AbortSignal.any([deadline, over.signal])
    await Promise.race([session.close(signal), aborted(signal)])
  }).catch((error: unknown) =>
    platform.log.warn({ err: error, channel_id: connection.channel_id }, 'a session could not be closed in order'),
  )
}

function fall(state: State, refused: boolean, message: string): void {
  const { platform, connection, standing } = state
  const since_ms = standing.kind === 'down' ? standing.since_ms : platform.clock.elapsed()
  state.standing = { kind: 'down', since_ms, refused }
  platform.log.warn(
    { channel_id: connection.channel_id, refused },
    `a session with a provider does not stand: ${message}`,
  )
  state.changed()
}

/** Resolves when the signal aborts, or is not awaited any more. */
async function aborted(signal: AbortSignal, over?: AbortSignal): Promise<undefined> {
  if (signal.aborted || over?.aborted === true) return undefined
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const done = () => {
    signal.removeEventListener('abort', done)
    over?.removeEventListener('abort', done)
    resolve(undefined)
  }
  signal.addEventListener('abort', done)
  over?.addEventListener('abort', done)
  return await promise
}
