/**
 * Long-lived connections to providers, one per channel, owned by one process under a lease (behaviour: channels 4.4)
 * (docs/decisions/sessions.md).
 */
import { limits } from '../../../api/limits.ts'
import { ageOf, isoTime, longAgo, mark, type Mark } from '../../../lib/clock.ts'
import type { Worker } from '../../../platform/jobs/worker.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { ProviderAdapter, Connection, CallbackItem, Session } from '../../../providers/provider.ts'
import { managedSession, type ManagedSession } from './managed-session.ts'
import { countSessions, leaseSessions, listActive, listUnleased, releaseSessions, writeOpen } from './repository.ts'
import type { ChannelRow } from '../channel.ts'

export interface SessionChannels {
  adapterOf(row: ChannelRow): ProviderAdapter | undefined
  sessionProviders(): readonly string[]
  connection(row: ChannelRow): Connection
  setConnection(
    sql: Platform['pool'],
    row: ChannelRow,
    connection_status: 'connected' | 'disconnected',
  ): Promise<unknown>
}

/** Raw and parsed, in one transaction. */
export type StoreSessionItems = (
  channel: ChannelRow,
  reports: readonly CallbackItem[],
  raw: Uint8Array,
  ignored?: string,
) => Promise<void>

export interface ChannelSessions {
  readonly worker: Worker
  find(channel_id: string): Session | undefined
  stop(): Promise<void>
}

const pollEveryMs = 1000
const leaseMs = 10_000
/** From the start of the statement that renewed it; the rest is for closing. */
const leaseTrustedMs = leaseMs - 3000
const closedBeforeMs = 1000
const closeWithinMs = 5000
const renewEveryMs = 2000
/** Few, so that processes that start together share the sessions. */
const acquiredPerTick = 5
const sessionsMax = 1000
const pageRows = 200
const disconnectedAfterMs = 30_000
const briefWaitMs = 200

interface LeasedSession {
  row: ChannelRow
  readonly managed: ManagedSession
  connection_status: ChannelRow['connection_status']
  stored_open: boolean
}

interface State {
  readonly platform: Platform
  readonly channels: SessionChannels
  readonly store: StoreSessionItems
  readonly sessions: Map<string, LeasedSession>
  renewed: Mark
  cursor: string
  watching: AbortController
  stopping: boolean
}

export function channelSessions(
  platform: Platform,
  channels: SessionChannels,
  keep: StoreSessionItems,
): ChannelSessions {
  const state: State = {
    platform,
    channels,
    store: keep,
    sessions: new Map(),
    renewed: longAgo,
    cursor: '',
    watching: new AbortController(),
    stopping: false,
  }
  return {
    worker: { name: 'sessions', poll_every_ms: pollEveryMs, tick: () => tick(state) },
    find(channel_id) {
      const status = state.sessions.get(channel_id)?.managed.state()
      return status?.kind === 'open' && hasLease(state) ? status.session : undefined
    },
    async stop() {
      state.stopping = true
      await release(state, [...state.sessions.keys()])
      state.watching.abort()
    },
  }
}

const hasLease = ({ platform, renewed }: State): boolean => ageOf(platform.clock, renewed) < leaseTrustedMs

async function tick(state: State): Promise<number> {
  if (state.stopping) return 0
  await renew(state)
  await reconcile(state)
  const opened = await acquire(state)
  if (opened.length > 0) await waitBriefly(state, Promise.all(opened.map(({ managed }) => managed.attempted())))
  await writeOpenFlags(state)
  await writeConnectionStatus(state)
  return opened.length
}

async function renew(state: State): Promise<void> {
  const { clock } = state.platform
  if (state.sessions.size > 0 && ageOf(clock, state.renewed) >= renewEveryMs) await lease(state, mark(clock), [])
}

/** Closes sessions whose lease was lost. Resolves to the channels with a lease. */
async function lease(state: State, began: Mark, more: readonly string[]): Promise<Set<string>> {
  const { platform, sessions } = state
  const times = { at: isoTime(began.now_ms), lease_until: isoTime(began.now_ms + leaseMs) }
  const leased = await leaseSessions(
    platform.pool,
    { renewed: [...sessions.keys()], acquired: more },
    platform.process_id,
    times,
  )
  const lost = [...sessions.keys()].filter((id) => !leased.has(id))
  confirmLease(state, began)
  if (lost.length > 0) {
    platform.log.warn({ channels: lost }, 'leases on sessions were lost to another process; the sessions are closed')
    // at once, since another process may have opened them
    await waitBriefly(state, close(state, lost, 0))
  }
  return leased
}

const waitBriefly = async ({ platform }: State, work: Promise<unknown>): Promise<unknown> =>
  await Promise.race([work, platform.clock.sleep(briefWaitMs)])

/** Without another renewal in time, the sessions are closed before another process may open them. */
function confirmLease(state: State, began: Mark): void {
  const { clock, log } = state.platform
  state.renewed = began
  state.watching.abort()
  const watching = new AbortController()
  state.watching = watching
  void clock.sleep(leaseTrustedMs - ageOf(clock, began), watching.signal).then(() => {
    if (watching.signal.aborted || state.sessions.size === 0) return
    log.error({ channels: state.sessions.size }, 'leases on sessions could not be renewed; the sessions are closed')
    void close(state, [...state.sessions.keys()])
  })
}

async function reconcile(state: State): Promise<void> {
  const { sessions } = state
  const rows = new Map((await listActive(state.platform.pool, [...sessions.keys()])).map((row) => [row.id, row]))
  const gone: string[] = []
  for (const [id, one] of sessions) {
    const row = rows.get(id)
    if (row === undefined || isChanged(state, one.row, row)) gone.push(id)
    else one.row = row
  }
  await waitBriefly(state, release(state, gone))
}

/** Credentials may have been re-encrypted without a change. */
function isChanged({ channels }: State, before: ChannelRow, now: ChannelRow): boolean {
  const relevant = (row: ChannelRow) => {
    const { max_messages_per_second: _, ...settings } = row.settings
    return JSON.stringify([row.identifier, settings])
  }
  if (relevant(before) !== relevant(now)) return true
  if (before.credentials === now.credentials) return false
  try {
    return (
      JSON.stringify(channels.connection(before).credentials) !== JSON.stringify(channels.connection(now).credentials)
    )
  } catch {
    // cannot be decrypted, so the session was opened with others
    return true
  }
}

async function acquire(state: State): Promise<LeasedSession[]> {
  const { platform, channels, sessions } = state
  const began = mark(platform.clock)
  const now = began.now_ms
  const unleased = await listUnleased(platform.pool, channels.sessionProviders(), isoTime(now), state.cursor, pageRows)
  state.cursor = unleased.length === pageRows ? unleased.at(-1)!.id : ''
  const wanting = unleased.filter((row) => !sessions.has(row.id) && needsSession(state, row))
  if (wanting.length === 0) return []
  const { leased: leasedTotal, workers } = await countSessions(
    platform.pool,
    isoTime(now),
    isoTime(now - limits.process_silent_ms),
  )
  const share = Math.min(sessionsMax, Math.ceil((leasedTotal + wanting.length) / Math.max(1, workers)))
  const wanted = wanting.slice(0, Math.max(0, Math.min(acquiredPerTick, share - sessions.size)))
  if (sessions.size >= sessionsMax)
    platform.log.error(
      { sessions: sessions.size, waiting: wanting.length },
      'channels wait for a session; start more worker processes',
    )
  const leased = await lease(
    state,
    began,
    wanted.map(({ id }) => id),
  )
  return wanted.filter(({ id }) => leased.has(id)).map((row) => startSession(state, row))
}

function needsSession({ platform, channels }: State, row: ChannelRow): boolean {
  try {
    return channels.adapterOf(row)?.needsSession?.(channels.connection(row)) === true
  } catch (error) {
    platform.log.error(
      { err: error, channel_id: row.id },
      'the session of a channel cannot be opened: its credentials cannot be decrypted',
    )
    return false
  }
}

function startSession(state: State, row: ChannelRow): LeasedSession {
  const { platform, channels } = state
  const one: LeasedSession = {
    row,
    connection_status: row.connection_status,
    stored_open: false,
    managed: managedSession({
      platform,
      open: channels.adapterOf(row)!.openSession!,
      connection: channels.connection(row),
      store: (reports, raw, ignored) => state.store(row, reports, raw, ignored),
      hasLease: () => hasLease(state),
      changed: () => platform.wake('sessions', 'dispatch'),
    }),
  }
  state.sessions.set(row.id, one)
  return one
}

async function writeOpenFlags({ platform, sessions }: State): Promise<void> {
  for (const is_open of [true, false]) {
    const changed = [...sessions].filter(
      ([, { managed, stored_open }]) => (managed.state().kind === 'open') === is_open && stored_open !== is_open,
    )
    await writeOpen(
      platform.pool,
      changed.map(([channel_id]) => channel_id),
      is_open,
      platform.process_id,
    )
    for (const [, one] of changed) one.stored_open = is_open
  }
}

/** An open session is connected; a refused one, or one unreachable for a while, is disconnected. */
async function writeConnectionStatus(state: State): Promise<void> {
  const { platform, channels, sessions } = state
  for (const one of sessions.values()) {
    if (one.row.connection_status !== one.connection_status) {
      // changed by someone else: a refused message, or a reconnect request
      one.connection_status = one.row.connection_status
      one.managed.retry()
      continue
    }
    const wanted = connectionStatusOf(one.managed, platform.clock.elapsed())
    if (wanted === undefined || wanted === one.connection_status) continue
    await channels.setConnection(platform.pool, one.row, wanted)
    one.connection_status = wanted
    one.row = { ...one.row, connection_status: wanted }
  }
}

function connectionStatusOf(session: ManagedSession, now_ms: number): 'connected' | 'disconnected' | undefined {
  const state = session.state()
  if (state.kind === 'open') return 'connected'
  return state.refused || now_ms - state.since_ms >= disconnectedAfterMs ? 'disconnected' : undefined
}

/** Never rejects: a lease that cannot be released expires soon. */
async function release(state: State, channel_ids: readonly string[]): Promise<void> {
  if (channel_ids.length === 0) return
  const { pool, process_id, log, notify } = state.platform
  await close(state, channel_ids)
  await releaseSessions(pool, channel_ids, process_id).catch((error: unknown) =>
    log.warn({ err: error }, 'leases on sessions could not be released; they expire'),
  )
  notify('sessions')
}

/** By default before another process may open them. */
async function close(
  { platform, sessions, renewed }: State,
  channel_ids: readonly string[],
  most_ms?: number,
): Promise<void> {
  const within_ms = most_ms ?? Math.min(closeWithinMs, leaseMs - closedBeforeMs - ageOf(platform.clock, renewed))
  const closing = channel_ids.flatMap((id) => {
    const one = sessions.get(id)
    sessions.delete(id)
    return one === undefined ? [] : [one.managed.stop(within_ms)]
  })
  await Promise.all(closing)
}
