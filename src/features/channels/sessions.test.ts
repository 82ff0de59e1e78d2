/** What processes promise of sessions: one holds each, whatever becomes of it, and the link is told as it stands. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Type } from 'typebox'
import { startPlatform } from '../../../test/kit/world.ts'
import { until } from '../../../test/kit/waiting.ts'
import { isoTime } from '../../lib/clock.ts'
import type { Platform } from '../../platform/platform.ts'
import type { Adapter, Provider, Session, Tell } from './adapter.ts'
import { hidingSecrets } from './hidden-secrets.ts'
import { channelSessions, type ChannelSessions } from './sessions.ts'
import { isSessionOpen } from './sessions-store.ts'
import { findAnyChannel, insertChannel, updateChannel, type ChannelRow } from './store.ts'

interface Opened {
  readonly channel_id: string
  readonly by: string
  readonly settings: unknown
  closed: boolean
  /** When it was opened, and closed; milliseconds since 1970. */
  readonly opened_ms: number
  closed_ms?: number
  readonly isOwn: () => boolean
  readonly tell: Tell
  end(refused?: boolean): void
}

const provider: Pick<Provider, 'credentials'> = { credentials: Type.Object({}) }

/** A provider that opens whatever it is asked to, or answers as told. */
async function sessionsWorld(t: TestContext, channels = 1) {
  const world = await startPlatform(t)
  const { pool, clock, platform } = world
  await pool`insert into accounts (id, name, created_at) values ('acc_1', 'Shop', ${clock.iso()})`
  for (let n = 1; n <= channels; n++)
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
      created_at: clock.iso(),
    })
  const opened: Opened[] = []
  const attempts: string[] = []
  const answer: { kind: 'open' | 'refused' | 'unavailable' } = { kind: 'open' }
  /** Whether a session closes by itself, or only when nobody waits for that any more. */
  const closing: { hangs: boolean } = { hangs: false }
  const told: string[] = []
  const kept: string[] = []

  function start(name: string, more: Partial<Platform> = {}): ChannelSessions & { tick(): Promise<number>; beat(): Promise<void> } {
    const own: Platform = { ...platform, process_id: name, ...more }
    const adapter: Adapter = {
      needsSession: () => true,
      open: async (connection, { tell, isOwn }) => {
        attempts.push(name)
        if (answer.kind !== 'open') return { kind: answer.kind, message: 'Not now.' }
        const ended = Promise.withResolvers<Awaited<Session['ended']>>()
        const one: Opened = {
          channel_id: connection.channel_id,
          by: name,
          settings: connection.settings,
          closed: false,
          opened_ms: clock.now(),
          isOwn,
          tell,
          end: (refused = false) => {
            one.closed = true
            ended.resolve({ refused, message: 'It ended.' })
          },
        }
        opened.push(one)
        const close = async (signal: AbortSignal) => {
          if (closing.hangs && !signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
          one.closed = true
          one.closed_ms = clock.now()
        }
        return { kind: 'open', session: { ended: ended.promise, close } }
      },
    }
    const sessions = channelSessions(
      own,
      {
        adapterOf: () => hidingSecrets(provider, adapter),
        sessionProviders: () => ['linked'],
        connection: (row) => {
          if (row.credentials === 'lost') throw new Error('its key is not among those of this installation')
          return { channel_id: row.id, type: row.type, identifier: row.identifier, credentials: {}, settings: row.settings, webhook_url: '' }
        },
        setConnection: async (sql, row, connection_status) => {
          told.push(`${row.id} ${connection_status}`)
          await sql`update channels set connection_status = ${connection_status} where id = ${row.id}`
        },
      },
      async (channel, reports, raw) => void kept.push(`${channel.id} ${reports.length} ${Buffer.from(raw).toString()}`),
    )
    t.after(() => {
      closing.hangs = false
      return sessions.stop()
    })
    return {
      ...sessions,
      tick: () => sessions.lane.tick(),
      beat: async () => {
        const at = isoTime(clock.now())
        await pool`insert into processes (id, roles, started_at, beat_at) values (${name}, '{worker}', ${at}, ${at}) on conflict (id) do update set beat_at = ${at}`
      },
    }
  }
  const standing = () => opened.filter(({ closed }) => !closed)
  const change = (set: Partial<ChannelRow>) => updateChannel(pool, { account_id: 'acc_1' as never, mode: 'live' }, 'ch_1', set as never)
  return { ...world, start, opened, standing, attempts, answer, closing, told, kept, change, row: async () => (await findAnyChannel(pool, 'ch_1'))! }
}

/** Time goes on in steps that heartbeats and leases outlast. */
async function passTime(
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

test('of two processes one holds the session of a channel, and uses it alone', async (t) => {
  const world = await sessionsWorld(t)
  const [a, b] = [world.start('a'), world.start('b')]
  await Promise.all([a.beat(), b.beat()])

  await Promise.all([a.tick(), b.tick()])
  await passTime(world, 30_000, a, b)

  assert.equal(world.opened.length, 1)
  assert.deepEqual([a.find('ch_1'), b.find('ch_1')].filter((found) => found !== undefined).length, 1)
})

test('a channel whose credentials cannot be opened is left out, and the sessions of the others are opened', async (t) => {
  const world = await sessionsWorld(t, 3)
  const one = world.start('a')
  await world.pool`update channels set credentials = 'lost' where id = 'ch_1'`

  await one.beat()
  await one.tick()
  await world.pool`update channels set credentials = 'lost' where id = 'ch_2'`
  await passTime(world, 3000, one)

  assert.deepEqual([world.opened.map(({ channel_id }) => channel_id), world.standing().map(({ channel_id }) => channel_id)], [['ch_2', 'ch_3'], ['ch_3']])
})

test('many channels are spread over the processes', async (t) => {
  const world = await sessionsWorld(t, 20)
  const [a, b] = [world.start('a'), world.start('b')]
  await Promise.all([a.beat(), b.beat()])

  for (let pass = 0; pass < 6; pass++) {
    await a.tick()
    await b.tick()
  }

  const counts = ['a', 'b'].map((name) => world.standing().filter(({ by }) => by === name).length)
  assert.deepEqual(counts, [10, 10])
})

test('a process that stops closes its sessions, and another one opens them at once', async (t) => {
  const world = await sessionsWorld(t)
  const [a, b] = [world.start('a'), world.start('b')]
  await Promise.all([a.beat(), b.beat()])
  await a.tick()
  await b.tick()

  await a.stop()
  const between = world.standing().length
  await b.tick()

  assert.equal(between, 0)
  assert.deepEqual(
    world.standing().map(({ by }) => by),
    ['b'],
  )
})

test('the session of a process that hangs goes to another, and the one that hung has given it up before', async (t) => {
  const world = await sessionsWorld(t)
  const [a, b] = [world.start('a'), world.start('b')]
  await Promise.all([a.beat(), b.beat()])
  await a.tick()

  await passTime(world, 9000, b)
  const before = { a: a.find('ch_1'), standing: world.standing().length }
  await passTime(world, 2000, b)
  await a.tick()

  assert.deepEqual(before, { a: undefined, standing: 0 })
  assert.deepEqual(
    world.standing().map(({ by }) => by),
    ['b'],
  )
  assert.equal(a.find('ch_1'), undefined)
})

test('a session that does not close in order is closed before the lease on it ends, and nothing is sent meanwhile', async (t) => {
  const world = await sessionsWorld(t)
  const [a, b] = [world.start('a'), world.start('b')]
  await Promise.all([a.beat(), b.beat()])
  await a.tick()
  const [first] = world.opened as [Opened]
  const leased_ms = world.clock.now()
  world.closing.hangs = true

  const seen: unknown[] = []
  for (let second = 1; second <= 12; second++) {
    await passTime(world, 1000, b)
    seen.push([a.find('ch_1') !== undefined, first.isOwn(), first.closed])
  }

  const [sending, closing, closed] = [
    [true, true, false],
    [false, false, false],
    [false, false, true],
  ]
  assert.deepEqual(seen, [...Array(6).fill(sending), ...Array(2).fill(closing), ...Array(4).fill(closed)])
  assert.equal(first.closed_ms, leased_ms + 9000)
  assert.deepEqual(
    world.opened.map(({ by, opened_ms }) => [by, opened_ms > first.closed_ms!]),
    [
      ['a', false],
      ['b', true],
    ],
  )
})

test('a process that stops when it could not renew for a while closes its sessions before the leases end', async (t) => {
  const world = await sessionsWorld(t)
  const a = world.start('a')
  await a.beat()
  await a.tick()
  const leased_ms = world.clock.now()
  world.closing.hangs = true

  await world.clock.advance(6000)
  const stopped = a.stop()
  await passTime(world, 6000)
  await stopped

  assert.equal(world.opened[0]!.closed_ms, leased_ms + 9000)
})

test('a process that takes a session again, which it had lost, tells it as open once it is', async (t) => {
  const world = await sessionsWorld(t)
  const a = world.start('a')
  const isOpen = async () => await isSessionOpen(world.pool, 'ch_1', world.clock.iso())
  await a.beat()
  await a.tick()
  const shown = [await isOpen()]

  await world.clock.advance(30_000)
  world.answer.kind = 'unavailable'
  await passTime(world, 3000, a)
  shown.push(await isOpen())
  world.answer.kind = 'open'
  await passTime(world, 65_000, a)
  shown.push(await isOpen())

  assert.deepEqual(shown, [true, false, true])
})

test('a process whose heartbeat is late keeps the sessions whose leases it renews', async (t) => {
  const world = await sessionsWorld(t)
  const [a, b] = [world.start('a'), world.start('b')]
  await Promise.all([a.beat(), b.beat()])
  await a.tick()

  await passTime(world, 30_000, b, { ...a, beat: () => Promise.resolve() })

  assert.deepEqual(
    world.opened.map(({ by }) => by),
    ['a'],
  )
})

test('a clock that jumps, back or ahead, costs a process no session', async (t) => {
  const world = await sessionsWorld(t)
  const a = world.start('a')
  await a.beat()
  await a.tick()

  const held: boolean[] = []
  for (const jump of [-86_400_000, 2 * 86_400_000]) {
    world.clock.jump(jump)
    await a.beat()
    await a.tick()
    held.push(a.find('ch_1') !== undefined)
    await passTime(world, 15_000, a)
  }

  assert.deepEqual([held, world.opened.length, world.standing().length], [[true, true], 1, 1])
})

test('a process that finds its lease with another closes the session', async (t) => {
  const world = await sessionsWorld(t)
  const a = world.start('a')
  await a.beat()
  await a.tick()
  world.closing.hangs = true

  await world.pool`update channel_sessions set process_id = 'b'`
  await world.pool`insert into processes (id, roles, started_at, beat_at) values ('b', '{worker}', ${world.clock.iso()}, ${world.clock.iso()})`
  await passTime(world, 3000, a)

  assert.deepEqual([world.standing().length, a.find('ch_1')], [0, undefined])
})

test('a session whose credentials are refused disconnects its channel at once, and is tried again later and later', async (t) => {
  const world = await sessionsWorld(t)
  const a = world.start('a')
  await a.beat()
  world.answer.kind = 'refused'

  await a.tick()
  const told = [...world.told]
  await passTime(world, 130_000, a)
  const attempts = world.attempts.length
  world.answer.kind = 'open'
  await passTime(world, 61_000, a)

  assert.deepEqual(told, ['ch_1 disconnected'])
  // after 1, 3, 7, 15, 31, 63, 123 seconds
  assert.equal(attempts, 8)
  assert.deepEqual(world.told, ['ch_1 disconnected', 'ch_1 connected'])
})

test('a provider out of reach disconnects the channel after half a minute without a success, not before', async (t) => {
  const world = await sessionsWorld(t)
  const a = world.start('a')
  await a.beat()
  await a.tick()
  world.answer.kind = 'unavailable'
  world.standing()[0]!.end()

  await passTime(world, 29_000, a)
  const soon = [...world.told]
  await passTime(world, 2000, a)

  assert.deepEqual(soon, [])
  assert.deepEqual(world.told, ['ch_1 disconnected'])
})

test('a link that ends for a moment is opened again without a word', async (t) => {
  const world = await sessionsWorld(t)
  const a = world.start('a')
  await a.beat()
  await a.tick()

  world.standing()[0]!.end()
  await passTime(world, 2000, a)

  assert.deepEqual([world.standing().length, world.told], [1, []])
})

test('a channel that was told to be connected again is tried at once', async (t) => {
  const world = await sessionsWorld(t)
  const a = world.start('a')
  await a.beat()
  world.answer.kind = 'refused'
  await a.tick()
  await passTime(world, 70_000, a)
  const attempts = world.attempts.length

  world.answer.kind = 'open'
  await world.pool`update channels set connection_status = 'connected'`
  await a.tick()
  await until('the session to be open', () => a.find('ch_1') !== undefined)

  assert.equal(world.attempts.length, attempts + 1)
})

test('a channel that is changed gets a session anew, one that is disabled none', async (t) => {
  const world = await sessionsWorld(t)
  const a = world.start('a')
  await a.beat()
  await a.tick()

  await world.change({ settings: { max_messages_per_second: 5 } })
  await a.tick()
  const untouched = world.opened.length
  await world.change({ settings: { window_size: 3 } })
  await a.tick()
  await a.tick()
  const changed = world.standing().map(({ settings }) => settings)
  await world.change({ status: 'disabled' })
  await a.tick()
  await a.tick()

  assert.equal(untouched, 1)
  assert.deepEqual(changed, [{ window_size: 3 }])
  assert.equal(world.standing().length, 0)
})

test('what a session tells is kept with its channel', async (t) => {
  const world = await sessionsWorld(t)
  const a = world.start('a')
  await a.beat()
  await a.tick()

  await world.standing()[0]!.tell([{ kind: 'receipt', provider_id: '1', transition: 'deliver' }], Buffer.from('raw'))

  assert.deepEqual(world.kept, ['ch_1 1 raw'])
})
