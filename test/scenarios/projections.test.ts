/** Counters of projections are exact at any time, also when processes die. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { testProjection, type TestProjection } from '../support/projection.ts'
import { fakeClock } from '../support/clock.ts'
import { startProcess } from '../support/process.ts'
import { until, within } from '../support/waiting.ts'
import { startWorld, type World } from '../support/world.ts'
import { writeCompletions } from '../../src/modules/messages/dispatch/completer.ts'
import { providerIdCache } from '../../src/modules/messages/dispatch/provider-id-cache.ts'
import type { MessageStatus } from '../../src/api/resources/message.ts'
import type { MessageRow } from '../../src/modules/messages/message.ts'
import { projectionsOf } from '../../src/modules/messages/projections.ts'

const workers = ['dispatch', 'callbacks'] as const

async function followed(t: TestContext, name?: string) {
  const counting = testProjection(name)
  const world = await startWorld(t, { projections: [counting.projection] })
  await counting.prepare(world.pool)
  const shop = await world.account({ mode: 'live', credit_micros: 10_000_000 })
  const trial = await world.account({ mode: 'test' })
  const number = 100_000_001
  const channel = async (settings = {}) =>
    (
      await shop.api.post('/v1/channels', {
        type: 'sms',
        provider: 'simulator',
        name: 'Shop',
        identifier: `+4915${number + channels++}`,
        credentials: {},
        settings,
      })
    ).body.id as string
  let channels = 0
  return { t, world, counting, shop, trial, channel }
}

type Scene = Awaited<ReturnType<typeof followed>>

const text = (channel: string, to: string, more = {}) => ({ channel, to, type: 'text', text: { body: 'Hi' }, ...more })

/** Runs only the workers of messages, so nothing is folded. */
async function rest(world: World): Promise<void> {
  await until(
    'messages to come to rest',
    async () => {
      const jobs = await world.tickWhileTimePasses(...workers)
      if (jobs > 0) await world.clock.advance(50)
      return jobs
    },
    (jobs) => jobs === 0,
  )
}

/** Each kind of status change; resolves to the final statuses of its messages. */
const changes: Readonly<Record<string, (scene: Scene) => Promise<readonly MessageStatus[]>>> = {
  async 'the sandbox delivers, answers, refuses and fails at once'({ world, trial }) {
    for (const to of ['+15005550006', '+15005550008', '+15005550014', '+15005550001', '+15005550002'])
      await trial.api.post('/v1/messages', text('ch_test_sms', to))
    await rest(world)
    return ['delivered', 'failed', 'failed', 'read', 'read']
  },
  async 'a batch under a key goes under locks, in part refused'({ world, trial }) {
    const messages = [
      text('ch_test_sms', '+15005550006'),
      text('ch_test_sms', 'nobody'),
      text('ch_test_sms', '+15005550006'),
    ]
    await trial.api.post('/v1/messages/batch', { messages }, { 'idempotency-key': 'batch' })
    await rest(world)
    return ['delivered', 'delivered']
  },
  async 'receipts come in disorder, and providers throttle, are away and keep silent'({ world, shop, channel }) {
    const id = await channel()
    const recipients = [
      '+19995550010',
      '+19995550014',
      '+19995550002',
      '+19995550021',
      '+19995550022',
      '+19995550023',
      '+4915112345678',
    ]
    for (const to of recipients) await shop.api.post('/v1/messages', text(id, to))
    for (let pass = 0; pass < 8; pass++) {
      await rest(world)
      await world.clock.advance(30_000)
    }
    await rest(world)
    return ['delivered', 'delivered', 'delivered', 'delivered', 'failed', 'read', 'read']
  },
  async 'a message of several parts is delivered when all are'({ world, shop, channel, counting }) {
    const id = await channel()
    await shop.api.post('/v1/messages', text(id, '+4915112345678', { send_at: world.clock.iso(3600_000) }))
    const [row] = await world.pool<MessageRow[]>`select * from messages where channel_id = ${id}`
    const report = (provider_id: string) =>
      ({ after_ms: 0, item: { kind: 'delivery_receipt', provider_id, transition: 'deliver' } }) as const
    const now = world.clock.now()
    await writeCompletions(
      {
        platform: world.platform,
        billing: world.services.billing,
        projections: projectionsOf(world.platform, [counting.projection]),
        providerIds: providerIdCache(),
      },
      [
        {
          job: {
            row: row!,
            attempts: 0,
            claimed: false,
            outcome_unknown: false,
            due_ms: now,
            lease_until_ms: now + 60_000,
          },
          provider: 'simulator',
          outcome: { kind: 'accepted', provider_ids: ['one', 'two'], later_items: [report('one'), report('two')] },
          began_ms: now,
          duration_ms: 5,
          at_ms: now,
          instant: false,
        },
      ],
    )
    await rest(world)
    return ['delivered']
  },
  async 'messages are cancelled by their sender'({ world, trial }) {
    const { id } = (
      await trial.api.post('/v1/messages', text('ch_test_sms', '+15005550006', { send_at: world.clock.iso(3600_000) }))
    ).body
    await trial.api.post(`/v1/messages/${id}/cancel`)
    return ['failed']
  },
  async 'a recipient opts out, which empties what waits and is confirmed'({ world, trial }) {
    await trial.api.post('/v1/messages', text('ch_test_sms', '+4915112345601', { send_at: world.clock.iso(3600_000) }))
    await trial.api.post('/v1/test/inbound_messages', {
      channel: 'ch_test_sms',
      from: '+4915112345601',
      type: 'text',
      text: { body: 'STOP' },
    })
    await rest(world)
    return ['delivered', 'failed']
  },
  async 'a message expires'({ world, trial, shop, channel }) {
    const id = await channel()
    await shop.api.post(
      '/v1/messages',
      text(id, '+4915112345678', { expires_in_seconds: 10, send_at: world.clock.iso(5000) }),
    )
    await shop.api.patch(`/v1/channels/${id}`, { status: 'disabled' })
    await trial.api.post(
      '/v1/messages',
      text('ch_test_sms', '+15005550006', { expires_in_seconds: 10, send_at: world.clock.iso(5000) }),
    )
    await world.clock.advance(20_000)
    await rest(world)
    await world.clock.advance(2000)
    await rest(world)
    return ['failed', 'failed']
  },
  async 'a channel is deleted with messages that wait'({ world, shop, channel }) {
    const id = await channel()
    await shop.api.post('/v1/messages', text(id, '+4915112345678', { send_at: world.clock.iso(3600_000) }))
    await shop.api.delete(`/v1/channels/${id}`)
    await rest(world)
    return ['failed']
  },
  async 'a process dies with messages in hand, and another takes over'({ t, world, shop, channel }) {
    const id = await channel({ latency_ms: 60 })
    const dying = await startProcess(t, world, 'dying')
    await dying.api(shop.key).post('/v1/messages', text(id, '+4915112345678'))
    await dying.tickWhileTimePasses('dispatch')
    await dying.api(shop.key).post('/v1/messages', text(id, '+4915112345678'))
    await dying.kill()
    await world.clock.advance(61_000)
    await world.tick('heartbeat')
    for (let pass = 0; pass < 20; pass++) {
      await rest(world)
      await world.clock.advance(15_000)
    }
    return ['delivered', 'delivered']
  },
}

test('folded and unfolded rows add up to the messages after every kind of change', async (t) => {
  const scene = await followed(t)
  const { world, counting } = scene
  let seen = ''
  for (const [name, change] of Object.entries(changes)) {
    await t.test(name, async () => {
      const expected = await change(scene)

      const made = await world.pool<
        { id: string; status: MessageStatus }[]
      >`select id, status from messages where direction = 'outbound' and id > ${seen} order by id`
      seen = made.at(-1)!.id
      assert.deepEqual(made.map(({ status }) => status).toSorted(), expected)
      assert.deepEqual(await counting.wrong(world.pool), [])
      await world.tick('project-test')
      assert.deepEqual([await counting.wrong(world.pool), await counting.behind(world.pool)], [[], []])
    })
  }
  const [left] = await world.pool`select count(*)::int as rows from message_transitions`
  assert.equal(left!['rows'], 0)
  await world.invariants()
})

test('projections of one origin each get the outcomes of its messages, and other origins leave no rows', async (t) => {
  const [first, second, other] = [
    testProjection('first', ['api']),
    testProjection('second', ['api', 'inbound']),
    testProjection('other', ['campaign']),
  ]
  const world = await startWorld(t, { projections: [first.projection, second.projection, other.projection] })
  await first.prepare(world.pool)
  const { api } = await world.account()
  await api.post('/v1/messages', text('ch_test_sms', '+15005550006'))
  await api.post('/v1/test/inbound_messages', {
    channel: 'ch_test_sms',
    from: '+4915112345601',
    type: 'text',
    text: { body: 'STOP' },
  })
  await rest(world)

  const rows = await world.pool<{ projection: string; origin_type: string; changes: string }[]>`
    select projection, origin_type, string_agg(coalesce(from_status, 'new') || ' to ' || status, ', ' order by times, from_status nulls first) as changes from message_transitions group by 1, 2 order by 1, 2`
  assert.deepEqual(
    rows.map(({ projection, origin_type, changes: what }) => `${projection} ${origin_type}: ${what}`),
    [
      'first api: new to queued, queued to delivered',
      'second api: new to queued, queued to delivered',
      'second inbound: new to queued, queued to delivered',
    ],
  )
  await world.settle()
  assert.deepEqual(
    [await first.wrong(world.pool), await second.wrong(world.pool), await other.wrong(world.pool)],
    [[], [], []],
  )
  assert.deepEqual(
    [await first.total(world.pool), await second.total(world.pool), await other.total(world.pool)],
    [1, 2, 0],
  )
})

test('doctor reports rows of a removed projection by name', async (t) => {
  const world = await startWorld(t, { projections: [testProjection('here').projection] })
  const { api } = await world.account()
  await api.post('/v1/messages', text('ch_test_sms', '+15005550006'))
  await world.pool`insert into message_transitions select (jsonb_populate_record(t, '{"projection":"gone"}')).* from message_transitions t`

  const breaches = await Promise.all(world.app.invariants.map((invariant) => invariant.breaches(world.pool)))

  assert.match(breaches.flat().join(' '), /^The projection gone \(1\) was removed or renamed/)
})

test('the counters are exact at every read while two processes fold and one is killed', async (t) => {
  const { world, counting, trial } = await followed(t)
  const dying = await startProcess(t, world, 'dying')
  for (let n = 0; n < 30; n++) await trial.api.post('/v1/messages', text('ch_test_sms', '+15005550008'))
  await rest(world)
  const folding = Promise.withResolvers<void>()
  const held = holdFirstFold(counting, folding.resolve)

  const first = dying.app
    .worker('project-test')
    .tick()
    .catch((error: Error) => error)
  await within('the first fold', folding.promise)
  const during = await counting.wrong(world.pool)
  const besides = await world.tick('project-test')
  await dying.kill()
  held.release()
  assert.ok((await first) instanceof Error)
  const after = await counting.wrong(world.pool)
  await until('the rows of the dead process to be unlocked', () => world.tick('project-test'))
  await world.settle()

  assert.deepEqual(
    [during, after, await counting.wrong(world.pool), await counting.behind(world.pool)],
    [[], [], [], []],
  )
  assert.equal(besides, 0, 'what one process has in hand another passes over')
  assert.equal(await counting.total(world.pool), 30)
})

test('the counters are exact at every read while messages change and processes fold', async (t) => {
  const { world, counting, trial, shop, channel } = await followed(t)
  const live = await channel()
  const second = await startProcess(t, world, 'second')
  const wrong: string[] = []
  let looks = 0
  for (let round = 0; round < 12; round++) {
    // the silent process counts as dead, and its jobs are rescued
    for (const app of [world.app, second.app]) await app.worker('heartbeat').tick()
    const sends = [1, 2, 3, 4].flatMap(() => [
      trial.api.post('/v1/messages', text('ch_test_sms', '+15005550014')),
      second.api(shop.key).post('/v1/messages', text(live, '+19995550010')),
    ])
    const passes = [world.app, second.app].flatMap((app) =>
      ['dispatch', 'callbacks', 'project-test'].map((worker) => app.worker(worker).tick()),
    )
    let busy = true
    const working = within('messages and folds to end', Promise.all([...sends, ...passes])).finally(
      () => (busy = false),
    )
    while (busy) {
      await Promise.race([working, counting.wrong(world.pool).then((lines) => wrong.push(...lines))])
      looks += 1
      await world.clock.advance(10)
    }
    await working
  }
  await world.settle()

  assert.deepEqual(wrong, [])
  assert.ok(looks > 12)
  assert.deepEqual(
    [await counting.wrong(world.pool), await counting.behind(world.pool), await counting.total(world.pool)],
    [[], [], 96],
  )
})

test("a projection's name is unique and valid as a worker's name", () => {
  const named = (...names: string[]) => names.map((name) => testProjection(name).projection)

  assert.throws(
    () => projectionsOf({ notify: () => undefined, clock: fakeClock() }, named('Campaign 1')),
    /cannot be called Campaign 1/,
  )
  assert.throws(() => projectionsOf({ notify: () => undefined, clock: fakeClock() }, named('runs', 'runs')), /one name/)
})

/** Keeps the first fold's transaction open after its rows are counted; `onHeld` reports that moment. */
function holdFirstFold(counting: TestProjection, onHeld: () => void): { release(): void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  let first = true
  counting.onFold = async (_rows, tx) => {
    if (!first) return
    first = false
    await tx`set local idle_in_transaction_session_timeout = 0`
    onHeld()
    await promise
  }
  return { release: resolve }
}
