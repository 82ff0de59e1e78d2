/** The session of one channel: opened, reopened with backoff when it ends, and closed. */
import { withDeadline } from '../../../lib/clock.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { ProviderAdapter, Connection, Session, StoreItems } from '../../../providers/provider.ts'

export type SessionState =
  | { readonly kind: 'open'; readonly session: Session }
  /** `since_ms` is elapsed time; `refused`: the provider refused the credentials. */
  | { readonly kind: 'down'; readonly since_ms: number; readonly refused: boolean }

export interface ManagedSession {
  state(): SessionState
  attempted(): Promise<void>
  retry(): void
  /** Waits at most `most_ms` for work in progress. Never rejects. */
  stop(most_ms: number): Promise<void>
}

export interface ManagedSessionDeps {
  readonly platform: Pick<Platform, 'clock' | 'log'>
  readonly open: NonNullable<ProviderAdapter['openSession']>
  readonly connection: Connection
  readonly store: StoreItems
  /** Nothing is sent without the lease. */
  readonly hasLease: () => boolean
  changed(): void
}

const openTimeoutMs = 20_000
const closeTimeoutMs = 5_000
/** Doubles with each failure (behaviour: channels 4.2). */
const firstWaitMs = 1000
const waitMaxMs = 60_000
/** A session that ended sooner counts as a failed attempt. */
const stableAfterMs = 60_000

interface State extends ManagedSessionDeps {
  status: SessionState
  failures: number
  opening: Promise<void>
  readonly stopping: AbortController
  readonly over: AbortController
  again: AbortController
}

export function managedSession(deps: ManagedSessionDeps): ManagedSession {
  const state: State = {
    ...deps,
    status: { kind: 'down', since_ms: deps.platform.clock.elapsed(), refused: false },
    failures: 0,
    opening: Promise.resolve(),
    stopping: new AbortController(),
    over: new AbortController(),
    again: new AbortController(),
  }
  const running = run(state).catch((error: unknown) =>
    deps.platform.log.error(
      { err: error, channel_id: deps.connection.channel_id },
      'a session is no longer maintained',
    ),
  )
  return {
    state: () => state.status,
    attempted: () => state.opening,
    retry() {
      state.failures = 0
      if (state.status.kind === 'down')
        state.status = { kind: 'down', since_ms: deps.platform.clock.elapsed(), refused: false }
      state.again.abort()
    },
    async stop(most_ms) {
      const closed = new AbortController()
      const { clock } = deps.platform
      if (most_ms <= 0) state.over.abort()
      else void clock.sleep(most_ms, closed.signal).then(() => state.over.abort())
      state.stopping.abort()
      await running
      closed.abort()
    },
  }
}

async function run(state: State): Promise<void> {
  const { clock } = state.platform
  const { signal } = state.stopping
  while (!signal.aborted) {
    state.again = new AbortController()
    const began_ms = clock.elapsed()
    const attempt = tryOpen(state)
    state.opening = attempt.then(() => undefined)
    const session = await attempt
    if (session !== undefined) await awaitEnd(state, session)
    if (clock.elapsed() - began_ms >= stableAfterMs) state.failures = 0
    const wait_ms = Math.min(firstWaitMs * 2 ** Math.min(state.failures, 10), waitMaxMs)
    state.failures += 1
    if (!state.again.signal.aborted) await clock.sleep(wait_ms, AbortSignal.any([signal, state.again.signal]))
    else state.failures = 0
  }
}

async function tryOpen(state: State): Promise<Session | undefined> {
  const { platform, connection, stopping } = state
  const opened = await withDeadline(platform.clock, openTimeoutMs, (deadline) =>
    openWithin(state, AbortSignal.any([deadline, stopping.signal])),
  ).catch((error: unknown) => {
    platform.log.error({ err: error, channel_id: connection.channel_id }, 'a provider failed to open a session')
    return { kind: 'unavailable' as const, message: 'The session could not be opened.' }
  })
  if (opened.kind === 'open') {
    state.status = { kind: 'open', session: opened.session }
    state.changed()
    return opened.session
  }
  markDown(state, opened.kind === 'refused', opened.message)
  return undefined
}

async function openWithin(
  { open, connection, store, hasLease }: State,
  signal: AbortSignal,
): ReturnType<NonNullable<ProviderAdapter['openSession']>> {
  const opening = open(connection, { store, signal, hasLease })
  const opened = await Promise.race([opening, aborted(signal)])
  if (opened !== undefined) return opened
  void opening.then((late) => (late.kind === 'open' ? late.session.close(signal) : undefined)).catch(() => undefined)
  return { kind: 'unavailable', message: 'The provider did not answer in time.' }
}

async function awaitEnd(state: State, session: Session): Promise<void> {
  const { platform, connection, stopping, again, over } = state
  const unawaited = new AbortController()
  const ended = await Promise.race([
    session.ended,
    aborted(AbortSignal.any([stopping.signal, again.signal]), unawaited.signal),
  ])
  unawaited.abort()
  if (ended !== undefined) return markDown(state, ended.refused, ended.message)
  markDown(state, false, 'It is closed.')
  await withDeadline(platform.clock, closeTimeoutMs, async (deadline) => {
    const signal = AbortSignal.any([deadline, over.signal])
    await Promise.race([session.close(signal), aborted(signal)])
  }).catch((error: unknown) =>
    platform.log.warn({ err: error, channel_id: connection.channel_id }, 'a session could not be closed in order'),
  )
}

function markDown(state: State, refused: boolean, message: string): void {
  const { platform, connection, status } = state
  const since_ms = status.kind === 'down' ? status.since_ms : platform.clock.elapsed()
  state.status = { kind: 'down', since_ms, refused }
  platform.log.warn({ channel_id: connection.channel_id, refused }, `a session with a provider is down: ${message}`)
  state.changed()
}

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
