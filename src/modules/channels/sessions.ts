/**
 * Sessions with providers: the standing connection of a channel that needs one, held by one process of the installation under a lease (behaviour: channels 4.4).
 * See docs/decisions/sessions.md.
 */
import { limits } from '../../api/limits.ts'
import { ageOf, isoTime, longAgo, mark, type Mark } from '../../lib/clock.ts'
import type { Worker } from '../../platform/jobs/worker.ts'
import type { Platform } from '../../platform/platform.ts'
import type { ProviderAdapter, Connection, CallbackItem, Session } from '../../providers/provider.ts'
import { heldSession, type HeldSession } from './held-session.ts'
import { countSessions, leaseSessions, listActive, listUnheld, releaseSessions, writeOpen } from './sessions-store.ts'
import type { ChannelRow } from './store.ts'

/** What keeping sessions needs of channels. */
export interface SessionChannels {
  adapterOf(row: ChannelRow): ProviderAdapter | undefined
  /** The names of providers that open sessions. */
  sessionProviders(): readonly string[]
  connection(row: ChannelRow): Connection
  setConnection(
    sql: Platform['pool'],
    row: ChannelRow,
    connection_status: 'connected' | 'disconnected',
  ): Promise<unknown>
}

/** Keeps what a session told of a channel, raw and read, in one transaction. */
export type Keep = (
  channel: ChannelRow,
  reports: readonly CallbackItem[],
  raw: Uint8Array,
  ignored?: string,
) => Promise<void>

export interface ChannelSessions {
  readonly worker: Worker
  /** The channel's session where this process holds it, it is open, and the lease on it is sure. */
  find(channel_id: string): Session | undefined
  /** Closes them in order, and lets other processes take them. */
  stop(): Promise<void>
}

const lookEveryMs = 1000
const leaseMs = 10_000
/** Trusted for so long after it was asked for: what is left is for closing. */
const trustedForMs = leaseMs - 3000
/** So long before another process may open a session ours is closed, whether in order or not. */
const closedBeforeMs = 1000
/** A session that is closed while its lease is good may take so long. */
const closeWithinMs = 5000
const renewEveryMs = 2000
/** A process takes a few at a time, so that others that start with it take theirs. */
const takenAtOnce = 5
const heldMax = 1000
const pageRows = 200
/** A provider out of reach disconnects a channel after so long (behaviour: channels 4.4). */
const outOfReachMs = 30_000
/** For so long a pass waits for sessions that it opens: most of them are open by then. */
const patienceMs = 200

interface Held {
  row: ChannelRow
  readonly held: HeldSession
  /** What of the link was last written, or found. */
  link: ChannelRow['connection_status']
  /** Whether the session is open, as it was last written. */
  told_open: boolean
}

interface State {
  readonly platform: Platform
  readonly channels: SessionChannels
  readonly keep: Keep
  readonly sessions: Map<string, Held>
  /** When the leases that it holds were asked for: they are renewed together. */
  renewed: Mark
  /** Behind which channel unheld ones are looked for next. */
  cursor: string
  watching: AbortController
  stopping: boolean
}

export function channelSessions(platform: Platform, channels: SessionChannels, keep: Keep): ChannelSessions {
  const state: State = {
    platform,
    channels,
    keep,
    sessions: new Map(),
    renewed: longAgo,
    cursor: '',
    watching: new AbortController(),
    stopping: false,
  }
  return {
    worker: { name: 'sessions', idle_ms: lookEveryMs, tick: () => tick(state) },
    find(channel_id) {
      const standing = state.sessions.get(channel_id)?.held.standing()
      return standing?.kind === 'open' && isSure(state) ? standing.session : undefined
    },
    async stop() {
      state.stopping = true
      await letGo(state, [...state.sessions.keys()])
      state.watching.abort()
    },
  }
}

const isSure = ({ platform, renewed }: State): boolean => ageOf(platform.clock, renewed) < trustedForMs

async function tick(state: State): Promise<number> {
  if (state.stopping) return 0
  await renew(state)
  await follow(state)
  const opened = await take(state)
  if (opened.length > 0) await patiently(state, Promise.all(opened.map(({ held }) => held.settled())))
  await tellOpen(state)
  await tellLinks(state)
  return opened.length
}

/** Renews the leases in time. */
async function renew(state: State): Promise<void> {
  const { clock } = state.platform
  if (state.sessions.size > 0 && ageOf(clock, state.renewed) >= renewEveryMs) await lease(state, mark(clock), [])
}

/** Leases what this process holds and these channels; a session whose lease another process has is closed. Resolves to the channels whose leases it has. */
async function lease(state: State, began: Mark, more: readonly string[]): Promise<Set<string>> {
  const { platform, sessions } = state
  const times = { at: isoTime(began.now_ms), lease_until: isoTime(began.now_ms + leaseMs) }
  const leased = await leaseSessions(
    platform.pool,
    { held: [...sessions.keys()], taken: more },
    platform.process_id,
    times,
  )
  const lost = [...sessions.keys()].filter((id) => !leased.has(id))
  beSure(state, began)
  if (lost.length > 0) {
    platform.log.warn(
      { channels: lost },
      'another process holds the sessions of channels that this one held; they are closed',
    )
    // it may have been opened elsewhere already
    await patiently(state, close(state, lost, 0))
  }
  return leased
}

/** Waits for work for a moment; what takes longer goes on beside the next pass. */
const patiently = async ({ platform }: State, work: Promise<unknown>): Promise<unknown> =>
  await Promise.race([work, platform.clock.sleep(patienceMs)])

/** From a statement that began then on. When no renewal follows in time, another process may take the sessions: they are closed before. */
function beSure(state: State, began: Mark): void {
  const { clock, log } = state.platform
  state.renewed = began
  state.watching.abort()
  const watching = new AbortController()
  state.watching = watching
  void clock.sleep(trustedForMs - ageOf(clock, began), watching.signal).then(() => {
    if (watching.signal.aborted || state.sessions.size === 0) return
    log.error({ channels: state.sessions.size }, 'leases on sessions could not be renewed; the sessions are closed')
    void close(state, [...state.sessions.keys()])
  })
}

/** Lets go of channels that were deleted, disabled or changed. */
async function follow(state: State): Promise<void> {
  const { sessions } = state
  const rows = new Map((await listActive(state.platform.pool, [...sessions.keys()])).map((row) => [row.id, row]))
  const gone: string[] = []
  for (const [id, one] of sessions) {
    const row = rows.get(id)
    if (row === undefined || isChanged(state, one.row, row)) gone.push(id)
    else one.row = row
  }
  await patiently(state, letGo(state, gone))
}

/** Whether the session would be another one with what the channel has become. Credentials may be sealed anew without a change. */
function isChanged({ channels }: State, before: ChannelRow, now: ChannelRow): boolean {
  const essence = (row: ChannelRow) => {
    const { max_messages_per_second: _, ...settings } = row.settings
    return JSON.stringify([row.identifier, settings])
  }
  if (essence(before) !== essence(now)) return true
  if (before.credentials === now.credentials) return false
  try {
    return (
      JSON.stringify(channels.connection(before).credentials) !== JSON.stringify(channels.connection(now).credentials)
    )
  } catch {
    // what cannot be opened is not what the session was opened with
    return true
  }
}

/** Takes a few of the channels whose session nobody holds, up to this process's share of all. */
async function take(state: State): Promise<Held[]> {
  const { platform, channels, sessions } = state
  const began = mark(platform.clock)
  const now = began.now_ms
  const unheld = await listUnheld(platform.pool, channels.sessionProviders(), isoTime(now), state.cursor, pageRows)
  state.cursor = unheld.length === pageRows ? unheld.at(-1)!.id : ''
  const wanting = unheld.filter((row) => !sessions.has(row.id) && needsSession(state, row))
  if (wanting.length === 0) return []
  const { held, workers } = await countSessions(platform.pool, isoTime(now), isoTime(now - limits.process_silent_ms))
  const share = Math.min(heldMax, Math.ceil((held + wanting.length) / Math.max(1, workers)))
  const wanted = wanting.slice(0, Math.max(0, Math.min(takenAtOnce, share - sessions.size)))
  if (sessions.size >= heldMax)
    platform.log.error(
      { held: sessions.size, waiting: wanting.length },
      'channels wait for a session; start more worker processes',
    )
  const leased = await lease(
    state,
    began,
    wanted.map(({ id }) => id),
  )
  return wanted.filter(({ id }) => leased.has(id)).map((row) => begin(state, row))
}

/** One whose credentials cannot be opened is left out, and the others are taken. */
function needsSession({ platform, channels }: State, row: ChannelRow): boolean {
  try {
    return channels.adapterOf(row)?.needsSession?.(channels.connection(row)) === true
  } catch (error) {
    platform.log.error({ err: error, channel_id: row.id }, 'the session of a channel cannot be opened')
    return false
  }
}

function begin(state: State, row: ChannelRow): Held {
  const { platform, channels } = state
  const one: Held = {
    row,
    link: row.connection_status,
    told_open: false,
    held: heldSession({
      platform,
      open: channels.adapterOf(row)!.openSession!,
      connection: channels.connection(row),
      tell: (reports, raw, ignored) => state.keep(row, reports, raw, ignored),
      isOwn: () => isSure(state),
      changed: () => platform.wake('sessions', 'dispatch'),
    }),
  }
  state.sessions.set(row.id, one)
  return one
}

/** Writes which sessions are open, for processes that are asked to reconnect. */
async function tellOpen({ platform, sessions }: State): Promise<void> {
  for (const is_open of [true, false]) {
    const changed = [...sessions].filter(
      ([, { held, told_open }]) => (held.standing().kind === 'open') === is_open && told_open !== is_open,
    )
    await writeOpen(
      platform.pool,
      changed.map(([channel_id]) => channel_id),
      is_open,
      platform.process_id,
    )
    for (const [, one] of changed) one.told_open = is_open
  }
}

/** Writes how the links stand: an open one is connected, a refused one disconnected, one out of reach after a while. */
async function tellLinks(state: State): Promise<void> {
  const { platform, channels, sessions } = state
  for (const one of sessions.values()) {
    if (one.row.connection_status !== one.link) {
      // somebody else says otherwise: a refused message, or a reconnect that was asked for
      one.link = one.row.connection_status
      one.held.retry()
      continue
    }
    const wanted = linkOf(one.held, platform.clock.elapsed())
    if (wanted === undefined || wanted === one.link) continue
    await channels.setConnection(platform.pool, one.row, wanted)
    one.link = wanted
    one.row = { ...one.row, connection_status: wanted }
  }
}

function linkOf(held: HeldSession, now_ms: number): 'connected' | 'disconnected' | undefined {
  const standing = held.standing()
  if (standing.kind === 'open') return 'connected'
  return standing.refused || now_ms - standing.since_ms >= outOfReachMs ? 'disconnected' : undefined
}

/** Closes sessions, and only then lets another process, or the next pass, take them. Never rejects: a lease that is not given up ends soon. */
async function letGo(state: State, channel_ids: readonly string[]): Promise<void> {
  if (channel_ids.length === 0) return
  const { pool, process_id, log, notify } = state.platform
  await close(state, channel_ids)
  await releaseSessions(pool, channel_ids, process_id).catch((error: unknown) =>
    log.warn({ err: error }, 'leases on sessions could not be given up; they end by themselves'),
  )
  notify('sessions')
}

/** Within `most_ms`: before another process may open them. */
async function close(
  { platform, sessions, renewed }: State,
  channel_ids: readonly string[],
  most_ms?: number,
): Promise<void> {
  const within_ms = most_ms ?? Math.min(closeWithinMs, leaseMs - closedBeforeMs - ageOf(platform.clock, renewed))
  const closing = channel_ids.flatMap((id) => {
    const one = sessions.get(id)
    sessions.delete(id)
    return one === undefined ? [] : [one.held.stop(within_ms)]
  })
  await Promise.all(closing)
}
