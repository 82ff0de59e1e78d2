/** Processes with sessions of a provider that allows any number of them. */
import type { TestContext } from 'node:test'
import { Type } from 'typebox'
import type { ProviderAdapter, Provider, Session, StoreItems } from '../../src/providers/provider.ts'
import { withRedactedSecrets } from '../../src/modules/channels/secret-redaction.ts'
import { channelSessions, type ChannelSessions } from '../../src/modules/channels/sessions/sessions.ts'
import { findAnyChannel, insertChannel, updateChannel } from '../../src/modules/channels/repository.ts'
import type { ChannelRow } from '../../src/modules/channels/channel.ts'
import { isoTime } from '../../src/lib/clock.ts'
import type { Platform } from '../../src/platform/platform.ts'
import { startPlatform } from './world.ts'

export interface Opened {
  readonly channel_id: string
  readonly by: string
  readonly settings: unknown
  closed: boolean
  readonly opened_ms: number
  closed_ms?: number
  readonly hasLease: () => boolean
  readonly store: StoreItems
  end(refused?: boolean): void
}

const provider: Pick<Provider, 'credentials'> = { credentials: Type.Object({}) }

async function insertLinkedChannel(pool: Platform['pool'], n: number, created_at: string): Promise<void> {
  await insertChannel(pool, {
    account_id: 'acc_1',
    mode: 'live',
    id: `ch_${n}`,
    type: 'sms',
    provider: 'linked',
    name: 'Alerts',
    identifier: `+49151000${n}`,
    status: 'active',
    connection_status: 'connected',
    capabilities: ['text'],
    settings: {},
    credentials: '',
    created_at,
  })
}

interface State {
  readonly clock: { now(): number }
  readonly opened: Opened[]
  readonly attempts: string[]
  readonly answer: { kind: 'open' | 'refused' | 'unavailable' }
  readonly closing: { hangs: boolean }
}

function linkedAdapter(state: State, name: string): ProviderAdapter {
  return {
    needsSession: () => true,
    openSession: async (connection, { store, hasLease }) => {
      state.attempts.push(name)
      if (state.answer.kind !== 'open') return { kind: state.answer.kind, message: 'Not now.' }
      const ended = Promise.withResolvers<Awaited<Session['ended']>>()
      const one: Opened = {
        channel_id: connection.channel_id,
        by: name,
        settings: connection.settings,
        closed: false,
        opened_ms: state.clock.now(),
        hasLease,
        store,
        end: (refused = false) => {
          one.closed = true
          ended.resolve({ refused, message: 'It ended.' })
        },
      }
      state.opened.push(one)
      const close = async (signal: AbortSignal) => {
        if (state.closing.hangs && !signal.aborted)
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
        one.closed = true
        one.closed_ms = state.clock.now()
      }
      return { kind: 'open', session: { ended: ended.promise, close } }
    },
  }
}

function connectionOf(row: ChannelRow) {
  return {
    channel_id: row.id,
    type: row.type,
    identifier: row.identifier,
    credentials: {},
    settings: row.settings,
    webhook_url: '',
  }
}

async function beat({ pool, clock }: Pick<Platform, 'pool' | 'clock'>, name: string): Promise<void> {
  const at = isoTime(clock.now())
  await pool`
    insert into processes (id, roles, started_at, heartbeat_at)
    values (${name}, '{worker}', ${at}, ${at})
    on conflict (id) do update set heartbeat_at = ${at}`
}

export async function sessionsWorld(t: TestContext, channels = 1) {
  const world = await startPlatform(t)
  const { pool, clock, platform } = world
  await pool`insert into accounts (id, name, created_at) values ('acc_1', 'Shop', ${clock.iso()})`
  for (let n = 1; n <= channels; n++) await insertLinkedChannel(pool, n, clock.iso())
  const opened: Opened[] = []
  const attempts: string[] = []
  const answer: { kind: 'open' | 'refused' | 'unavailable' } = { kind: 'open' }
  /** `hangs`: closes only when the signal aborts. */
  const closing: { hangs: boolean } = { hangs: false }
  const state: State = { clock, opened, attempts, answer, closing }
  const statuses: string[] = []
  const stored: string[] = []

  function start(
    name: string,
    more: Partial<Platform> = {},
  ): ChannelSessions & { tick(): Promise<number>; beat(): Promise<void> } {
    const own: Platform = { ...platform, process_id: name, ...more }
    const adapter = linkedAdapter(state, name)
    const sessions = channelSessions(
      own,
      {
        adapterOf: () => withRedactedSecrets(provider, adapter),
        sessionProviders: () => ['linked'],
        connection: (row) => {
          if (row.credentials === 'lost') throw new Error('its key is not among those of this installation')
          return connectionOf(row)
        },
        setConnection: async (sql, row, connection_status) => {
          statuses.push(`${row.id} ${connection_status}`)
          await sql`update channels set connection_status = ${connection_status} where id = ${row.id}`
        },
      },
      async (channel, items, raw) => void stored.push(`${channel.id} ${items.length} ${Buffer.from(raw).toString()}`),
    )
    t.after(() => {
      closing.hangs = false
      return sessions.stop()
    })
    return { ...sessions, tick: () => sessions.worker.tick(), beat: () => beat(world, name) }
  }
  const openSessions = () => opened.filter(({ closed }) => !closed)
  const change = (set: Partial<ChannelRow>) =>
    updateChannel(pool, { account_id: 'acc_1' as never, mode: 'live' }, 'ch_1', set as never)
  return {
    ...world,
    start,
    opened,
    openSessions,
    attempts,
    answer,
    closing,
    statuses,
    stored,
    change,
    row: async () => (await findAnyChannel(pool, 'ch_1'))!,
  }
}

/** Steps are longer than heartbeats and leases. */
export async function passTime(
  world: { clock: { advance(ms: number): Promise<void> } },
  ms: number,
  ...processes: { tick(): Promise<number>; beat(): Promise<void> }[]
) {
  for (let passed = 0; passed < ms; passed += 1000) {
    await world.clock.advance(1000)
    for (const one of processes) {
      await one.beat()
      await one.tick()
    }
  }
}
