import assert from 'node:assert/strict'
import { test } from 'node:test'
import { passTime, sessionsWorld, type Opened } from '../../../../test/support/sessions-world.ts'
import { isSessionOpen } from './repository.ts'

test('one of two processes has the session of a channel and uses it alone', async (t) => {
  const world = await sessionsWorld(t)
  const [a, b] = [world.start('a'), world.start('b')]
  await Promise.all([a.beat(), b.beat()])

  await Promise.all([a.tick(), b.tick()])
  await passTime(world, 30_000, a, b)

  assert.equal(world.opened.length, 1)
  assert.deepEqual([a.find('ch_1'), b.find('ch_1')].filter((found) => found !== undefined).length, 1)
})

test('a channel whose credentials cannot be decrypted is skipped, and other sessions are opened', async (t) => {
  const world = await sessionsWorld(t, 3)
  const one = world.start('a')
  await world.pool`update channels set credentials = 'lost' where id = 'ch_1'`

  await one.beat()
  await one.tick()
  await world.pool`update channels set credentials = 'lost' where id = 'ch_2'`
  await passTime(world, 3000, one)

  assert.deepEqual(
    [world.opened.map(({ channel_id }) => channel_id), world.openSessions().map(({ channel_id }) => channel_id)],
    [['ch_2', 'ch_3'], ['ch_3']],
  )
})

test('many channels are spread over the processes', async (t) => {
  const world = await sessionsWorld(t, 20)
  const [a, b] = [world.start('a'), world.start('b')]
  await Promise.all([a.beat(), b.beat()])

  for (let pass = 0; pass < 6; pass++) {
    await a.tick()
    await b.tick()
  }

  const counts = ['a', 'b'].map((name) => world.openSessions().filter(({ by }) => by === name).length)
  assert.deepEqual(counts, [10, 10])
})

test('a process that stops closes its sessions, and another one opens them at once', async (t) => {
  const world = await sessionsWorld(t)
  const [a, b] = [world.start('a'), world.start('b')]
  await Promise.all([a.beat(), b.beat()])
  await a.tick()
  await b.tick()

  await a.stop()
  const between = world.openSessions().length
  await b.tick()

  assert.equal(between, 0)
  assert.deepEqual(
    world.openSessions().map(({ by }) => by),
    ['b'],
  )
})

test('a hanging process closes its session before another one opens it', async (t) => {
  const world = await sessionsWorld(t)
  const [a, b] = [world.start('a'), world.start('b')]
  await Promise.all([a.beat(), b.beat()])
  await a.tick()

  await passTime(world, 9000, b)
  const before = { a: a.find('ch_1'), openSessions: world.openSessions().length }
  await passTime(world, 2000, b)
  await a.tick()

  assert.deepEqual(before, { a: undefined, openSessions: 0 })
  assert.deepEqual(
    world.openSessions().map(({ by }) => by),
    ['b'],
  )
  assert.equal(a.find('ch_1'), undefined)
})

test('a session that does not close in time is aborted before its lease ends, and nothing is sent meanwhile', async (t) => {
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
    seen.push([a.find('ch_1') !== undefined, first.hasLease(), first.closed])
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

test('a clock set back does not extend a lease', async (t) => {
  const world = await sessionsWorld(t)
  const a = world.start('a')
  await a.beat()
  await a.tick()
  const [first] = world.opened as [Opened]
  world.closing.hangs = true

  world.clock.jump(-3600_000)
  const seen: unknown[] = []
  for (let second = 1; second <= 9; second++) {
    await passTime(world, 1000)
    seen.push([a.find('ch_1') !== undefined, first.hasLease(), first.closed])
  }

  assert.deepEqual(seen, [
    ...Array(6).fill([true, true, false]),
    ...Array(2).fill([false, false, false]),
    [false, false, true],
  ])
})

test('a stopping process that could not renew its leases closes its sessions before they end', async (t) => {
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

test('a process that acquires a lost session again reports it as open once it is', async (t) => {
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

test('a process with a late heartbeat keeps the sessions whose leases it renews', async (t) => {
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

test('a clock that jumps back or ahead ends no session', async (t) => {
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

  assert.deepEqual([held, world.opened.length, world.openSessions().length], [[true, true], 1, 1])
})

test('a process whose lease was acquired by another closes the session', async (t) => {
  const world = await sessionsWorld(t)
  const a = world.start('a')
  await a.beat()
  await a.tick()
  world.closing.hangs = true

  await world.pool`update channel_sessions set process_id = 'b'`
  await world.pool`insert into processes (id, roles, started_at, heartbeat_at) values ('b', '{worker}', ${world.clock.iso()}, ${world.clock.iso()})`
  await passTime(world, 3000, a)

  assert.deepEqual([world.openSessions().length, a.find('ch_1')], [0, undefined])
})
