/** Idempotency (behaviour: idempotency 1, 2, 3, 4). */
import assert from 'node:assert/strict'
import test from 'node:test'
import { lockWaits } from '../support/lock-waits.ts'
import type { Answered } from '../support/api.ts'
import { testPool } from '../support/pool.ts'
import { startProcess } from '../support/process.ts'
import { until, within } from '../support/waiting.ts'
import { startWorld, type World } from '../support/world.ts'

const keyed = (key: string) => ({ 'idempotency-key': key })
const codeOf = (answer: Answered) => [answer.status, answer.body.error?.code]
const message = { channel: 'ch_test_whatsapp', to: '+15005550006', type: 'text', text: { body: 'Hello' } }
const creations = [
  ['/v1/contact_lists', { name: 'Friends' }],
  ['/v1/messages', message],
  ['/v1/messages/batch', { messages: [message] }],
] as const

test('a repeated request gets the first answer, with its own request id', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  for (const [path, body] of creations) {
    const first = await api.post(path, body, keyed('a'))
    const again = await api.post(`${path}/`, Object.fromEntries(Object.entries(body).toReversed()), keyed('a'))

    assert.ok(first.status < 300, path)
    assert.equal(again.status, first.status, path)
    assert.deepEqual(again.body, first.body, path)
    assert.equal(first.headers['idempotent-replayed'], undefined, path)
    assert.equal(again.headers['idempotent-replayed'], 'true', path)
    assert.notEqual(again.headers['x-request-id'], first.headers['x-request-id'], path)
  }
  assert.equal((await api.get('/v1/contact_lists')).body.data.length, 1)
  assert.equal((await api.get('/v1/messages')).body.data.length, 2)
})

test('a key used with a different body or query is refused, and keys are separate for each operation', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  await api.post('/v1/contact_lists', { name: 'Friends' }, keyed('a'))
  await api.post('/v1/messages', message, keyed('a'))

  const list = await api.post('/v1/contact_lists', { name: 'Foes' }, keyed('a'))
  const sent = await api.post('/v1/messages', { ...message, to: '+15005550010' }, keyed('a'))
  const other = await api.post('/v1/contacts', { phone: '+4915112345678' }, keyed('a'))

  assert.deepEqual(
    [codeOf(list), codeOf(sent)],
    [
      [409, 'idempotency_key_reused'],
      [409, 'idempotency_key_reused'],
    ],
  )
  assert.equal(other.status, 201)
})

test('unknown fields are part of the compared request, in a batch too', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  for (const [path, body] of creations) {
    await api.post(path, body, keyed('a'))
    const more = await api.post(path, { ...body, sandbox: true }, keyed('a'))

    assert.deepEqual(
      [...codeOf(more), more.headers['service-ignored-fields']],
      [409, 'idempotency_key_reused', 'sandbox'],
      path,
    )
  }
})

test('an escaped id in the path is the same request under a key', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const waiting = await api.post('/v1/messages', {
    ...message,
    send_at: new Date(world.clock.now() + 3600_000).toISOString(),
  })
  const id: string = waiting.body.id

  const first = await api.post(`/v1/messages/${id}/cancel`, undefined, keyed('a'))
  const again = await api.post(`/v1/messages/${id.replace('_', '%5F')}/cancel`, undefined, keyed('a'))

  assert.equal(first.status, 200)
  assert.deepEqual([again.status, again.headers['idempotent-replayed'], again.body], [200, 'true', first.body])
  for (const odd of ['%00', '%F0%9F%94%91', 'a%2Fb', '%25'])
    assert.deepEqual(
      codeOf(await api.post(`/v1/messages/${odd}/cancel`, undefined, keyed('a'))),
      [404, 'resource_missing'],
      odd,
    )
})

test('the longest possible id is not found, under the longest key too', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const characters = (length: number, from: number) =>
    String.fromCodePoint(...Array.from({ length }, () => from + world.random.below(0x500)))
  const id = () => encodeURIComponent(characters(300, 0x4e00))
  const key = keyed(Buffer.from(characters(255, 0x1f000)).toString('latin1'))
  const [endpoint, delivery] = [id(), id()]
  const path = `/v1/webhook_endpoints/${endpoint}/deliveries/${delivery}/retry`

  for (const [at, body] of [[path, {}] as const, [`/v1/campaigns/${endpoint}/test`, { to: '+15005550006' }] as const]) {
    const first = await api.post(at, body, key)
    const again = await api.post(at, body, key)
    assert.deepEqual([...codeOf(first), first.headers['idempotent-replayed']], [404, 'resource_missing', undefined])
    assert.deepEqual([...codeOf(again), again.headers['idempotent-replayed']], [404, 'resource_missing', 'true'])
  }
  const other = await api.post(path.replace(delivery, id()), {}, key)
  assert.deepEqual([...codeOf(other), other.headers['idempotent-replayed']], [404, 'resource_missing', undefined])
  assert.deepEqual(codeOf(await api.post(path, { more: 1 }, key)), [409, 'idempotency_key_reused'])
})

test('a key belongs to its account and mode', async (t) => {
  const world = await startWorld(t)
  const one = await world.account()
  const other = await world.account()
  const live = await world.services.accounts.createKey({ account_id: one.id, mode: 'live' })

  const answers = await Promise.all(
    [one.api, other.api, world.api(live.key)].map((api, i) =>
      api.post('/v1/contact_lists', { name: `List ${i}` }, keyed('shared')),
    ),
  )

  assert.deepEqual(
    answers.map((answer) => answer.status),
    [201, 201, 201],
  )
})

test('refusals decided by the operation are replayed with a new request id; others leave the key free', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  await api.post('/v1/contacts', { phone: '+4915112345678' })

  const conflict = await api.post('/v1/contacts', { phone: '+4915112345678' }, keyed('conflict'))
  const conflictAgain = await api.post('/v1/contacts', { phone: '+4915112345678' }, keyed('conflict'))
  const absent = await api.post('/v1/messages', { ...message, channel: 'ch_none' }, keyed('absent'))
  const absentAgain = await api.post('/v1/messages', { ...message, channel: 'ch_none' }, keyed('absent'))
  const wrong = await api.post('/v1/contacts', { phone: 'nonsense' }, keyed('wrong'))
  const right = await api.post('/v1/contacts', { phone: '+4915112345679' }, keyed('wrong'))
  const broke = await api.post('/v1/messages', { ...message, to: '+15005550011' }, keyed('broke'))
  const brokeAgain = await api.post('/v1/messages', { ...message, to: '+15005550011' }, keyed('broke'))
  await api.post('/v1/test/inbound_messages', {
    channel: message.channel,
    from: '+4915112345670',
    text: { body: 'STOP' },
  })
  const stopped = await api.post('/v1/messages', { ...message, to: '+4915112345670' }, keyed('stopped'))
  const stoppedAgain = await api.post('/v1/messages', { ...message, to: '+4915112345670' }, keyed('stopped'))

  assert.deepEqual(
    [conflict, conflictAgain, absent, absentAgain, wrong, broke, brokeAgain, stopped, stoppedAgain].map(codeOf),
    [
      [409, 'contact_exists'],
      [409, 'contact_exists'],
      [404, 'resource_missing'],
      [404, 'resource_missing'],
      [400, 'parameter_invalid'],
      [402, 'insufficient_balance'],
      [402, 'insufficient_balance'],
      [422, 'recipient_blocked'],
      [422, 'recipient_blocked'],
    ],
  )
  assert.equal(right.status, 201)
  for (const [first, again] of [
    [conflict, conflictAgain],
    [absent, absentAgain],
    [broke, brokeAgain],
    [stopped, stoppedAgain],
  ] as const) {
    assert.equal(first.headers['idempotent-replayed'], undefined)
    assert.equal(again.headers['idempotent-replayed'], 'true')
    assert.equal(again.body.error.request_id, again.headers['x-request-id'])
    assert.deepEqual({ ...again.body.error, request_id: '' }, { ...first.body.error, request_id: '' })
  }
})

test('the limit of a key counts characters, not bytes', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const send = async (key: string) => {
    const answer = await api.post(
      '/v1/contact_lists',
      { name: 'Friends' },
      keyed(Buffer.from(key, 'utf8').toString('latin1')),
    )
    return [answer.status, answer.headers['idempotent-replayed']]
  }

  assert.deepEqual(await send('ü'.repeat(255)), [201, undefined])
  assert.deepEqual(await send('ü'.repeat(255)), [201, 'true'])
  assert.deepEqual(await send('🔑'.repeat(255)), [201, undefined])
  assert.deepEqual(await send('ü'.repeat(256)), [400, undefined])
})

test('an empty or too long key is refused, and one of 255 characters is accepted', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  const answers = await Promise.all(
    ['', 'x'.repeat(256), 'x'.repeat(255)].map((key) => api.post('/v1/contact_lists', { name: 'Friends' }, keyed(key))),
  )

  assert.deepEqual(
    answers.map((answer) => [answer.status, answer.body.error?.param]),
    [
      [400, 'Idempotency-Key'],
      [400, 'Idempotency-Key'],
      [201, undefined],
    ],
  )
})

test('a key expires after 24 hours', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  await api.post('/v1/contact_lists', { name: 'Friends' }, keyed('a'))
  await api.post('/v1/contact_lists', { name: 'Family' }, keyed('b'))

  await world.clock.advance(24 * 3600_000 - 1)
  const before = await api.post('/v1/contact_lists', { name: 'Others' }, keyed('a'))
  await world.clock.advance(1)
  const after = await api.post('/v1/contact_lists', { name: 'Others' }, keyed('a'))
  await world.periodicJobs()
  const [left] = await world.pool`select count(*)::int as keys from idempotency_keys`

  assert.deepEqual(codeOf(before), [409, 'idempotency_key_reused'])
  assert.equal(after.status, 201)
  assert.equal(left!['keys'], 1)
})

test('replies with a secret are stored encrypted, and replayed in full', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const wanted = { url: 'https://example.com/hooks', events: ['*'] }

  const first = await api.post('/v1/webhook_endpoints', wanted, keyed('a'))
  const again = await api.post('/v1/webhook_endpoints', wanted, keyed('a'))
  const rows = await world.pool`select response, encrypted_response from idempotency_keys`

  assert.match(first.body.secret, /^whsec_/)
  assert.deepEqual(again.body, first.body)
  assert.doesNotMatch(JSON.stringify(rows), /whsec_/)
})

test('of many identical requests at once in one process one is executed, and the others get its answer or a conflict', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  for (const [path, body] of [
    ['/v1/contact_lists', { name: 'Friends' }],
    ['/v1/messages', message],
  ] as const) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => api.post(path, body, keyed('twin'))))

    const done = answers.filter((answer) => answer.status < 300 && answer.headers['idempotent-replayed'] === undefined)
    assert.equal(done.length, 1, path)
    for (const answer of answers)
      assert.ok(answer.status < 300 || answer.body.error.code === 'idempotency_key_in_use', `${path} ${answer.status}`)
    assert.equal((await api.get(path)).body.data.length, 1, path)
  }
})

test('a different body while the first request runs is a reused key, not a conflict', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const lock = await holdTable(world, 'contact_lists')

  const first = api.post('/v1/contact_lists', { name: 'Friends' }, keyed('a'))
  await lock.untilWaiting()
  const same = await api.post('/v1/contact_lists', { name: 'Friends' }, keyed('a'))
  const different = await api.post('/v1/contact_lists', { name: 'Foes' }, keyed('a'))
  await lock.release()

  assert.deepEqual(
    [codeOf(same), codeOf(different)],
    [
      [409, 'idempotency_key_in_use'],
      [409, 'idempotency_key_reused'],
    ],
  )
  assert.equal((await first).status, 201)
})

test('a stored answer is replayed, also while another request with the key is running', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  for (const [path, body] of [
    creations[0],
    ['/v1/webhook_endpoints', { url: 'https://example.com/', events: ['*'] }],
  ] as const) {
    const first = await api.post(path, body, keyed('a'))
    const lock = await holdTable(world, 'idempotency_keys')
    const running = api.post(path, { ...body, more: true }, keyed('a'))
    await lock.untilWaiting()
    const again = await api.post(path, body, keyed('a'))
    const other = await api.post(path, { ...body, other: true }, keyed('a'))
    await lock.release()

    assert.ok(first.status < 300, path)
    assert.deepEqual(
      [again.status, again.headers['idempotent-replayed'], again.body],
      [first.status, 'true', first.body],
      path,
    )
    assert.deepEqual([codeOf(other), codeOf(await running)], Array(2).fill([409, 'idempotency_key_reused']), path)
  }
})

test('many requests at once with an answered key are replayed, or refused as different', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  for (const [path, body] of creations) {
    const first = await api.post(path, body, keyed('a'))
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => api.post(path, i % 3 === 0 ? { ...body, other: true } : body, keyed('a'))),
    )

    for (const [i, answer] of answers.entries()) {
      if (i % 3 === 0) assert.deepEqual(codeOf(answer), [409, 'idempotency_key_reused'], path)
      else assert.deepEqual([answer.status, answer.body], [first.status, first.body], path)
    }
  }
})

test('an identical request in another process waits for the first and replays its answer', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const other = await startProcess(t, world, 'the other')
  const lock = await holdTable(world, 'contact_lists')

  const first = account.api.post('/v1/contact_lists', { name: 'Friends' }, keyed('a'))
  await lock.untilWaiting()
  const twin = other.api(account.key).post('/v1/contact_lists', { name: 'Friends' }, keyed('a'))
  await lock.untilWaiting(2)
  await lock.release()
  const [one, two] = await Promise.all([first, twin])
  await other.stop()

  assert.deepEqual([one.status, two.status], [201, 201])
  assert.deepEqual(two.body, one.body)
  assert.equal(two.headers['idempotent-replayed'], 'true')
})

test('when two processes refuse the same message at once, one answer is stored, and the other is a replay or a conflict', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const other = await startProcess(t, world, 'the other')
  const refused = { ...message, to: '+15005550011' }
  const lock = await holdTable(world, 'idempotency_keys')

  const first = account.api.post('/v1/messages', refused, keyed('a'))
  const twin = other.api(account.key).post('/v1/messages', refused, keyed('a'))
  const another = account.api.post('/v1/messages', refused, keyed('b'))
  const different = other
    .api(account.key)
    .post(
      '/v1/messages',
      { ...refused, type: 'template', template: { name: 'a', language: { code: 'en' } } },
      keyed('b'),
    )
  await lock.untilWaiting(4)
  await lock.release()
  const [one, two, three, four] = await Promise.all([first, twin, another, different])
  await other.stop()

  assert.deepEqual([one, two].map(codeOf), [
    [402, 'insufficient_balance'],
    [402, 'insufficient_balance'],
  ])
  assert.deepEqual([one, two].map(({ headers }) => headers['idempotent-replayed'] ?? 'first').toSorted(), [
    'first',
    'true',
  ])
  assert.deepEqual([three, four].map((answer) => String(codeOf(answer))).toSorted(), [
    '402,insufficient_balance',
    '409,idempotency_key_reused',
  ])
})

test('a batch that exceeds the queue limit is answered item by item, and replayed so', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const lock = await holdTable(world, 'messages')

  const many = { messages: Array.from({ length: 100 }, () => message) }
  const flood: Promise<unknown>[] = []
  let tries = 0
  // the oldest messages expire meanwhile, so a batch that finds space is repeated
  const whileFull = (body: object) => {
    const refused: (Answered & { readonly key: string })[] = []
    return until(
      'a batch to be refused item by item',
      async () => {
        const key = `k${tries++}`
        flood.push(...Array.from({ length: 60 }, () => api.post('/v1/messages/batch', many)))
        flood.push(
          api
            .post('/v1/messages/batch', body, keyed(key))
            .then((answer) => answer.status === 207 && refused.push({ key, ...answer })),
        )
        await within('one of the flood to be answered', Promise.race(flood.slice(-61)))
        return refused[0]!
      },
      (first) => first !== undefined,
    )
  }
  const two = { messages: [message, { ...message, to: 'nobody' }] }
  const first = await whileFull(many)
  const mixed = await whileFull(two)
  await lock.release()
  await Promise.all(flood)
  const again = await api.post('/v1/messages/batch', many, keyed(first.key))
  const mixedAgain = await api.post('/v1/messages/batch', two, keyed(mixed.key))
  const renewed = await api.post('/v1/messages/batch', many, keyed('c'))

  assert.deepEqual([first.status, first.body.accepted, first.body.rejected], [207, 0, 100])
  assert.deepEqual(statusesOf(mixed), [503, 400])
  assert.deepEqual(
    [first.body.data[0].error.code, first.headers['idempotent-replayed']],
    ['upstream_unavailable', undefined],
  )
  for (const [one, other] of [[first, again] as const, [mixed, mixedAgain] as const]) {
    assert.deepEqual([other.status, other.headers['idempotent-replayed']], [207, 'true'])
    assert.deepEqual(statusesOf(other), statusesOf(one))
  }
  assert.deepEqual([renewed.status, renewed.body.accepted], [207, 100])
})

const statusesOf = ({ body }: Answered) => body.data.map((item: { status: number }) => item.status)

test('a crash during a request leaves neither the key nor its effect', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  await world.pool`create function break() returns trigger language plpgsql as $$ begin raise exception 'pulled plug'; end $$`
  await world.pool`create trigger plug before update on idempotency_keys for each row execute function break()`

  const failed = await api.post('/v1/contact_lists', { name: 'Friends' }, keyed('a'))
  await world.pool`drop trigger plug on idempotency_keys`
  const lists = await api.get('/v1/contact_lists')
  const again = await api.post('/v1/contact_lists', { name: 'Friends' }, keyed('a'))

  assert.deepEqual(codeOf(failed), [500, 'internal_error'])
  assert.deepEqual(lists.body.data, [])
  assert.equal(again.status, 201)
})

test('when the database fails during an operation with a lease, its key is free soon after recovery', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const endpoint = { url: 'https://example.com/', events: ['*'] }
  await world.pool`create function break() returns trigger language plpgsql as $$ begin raise exception 'pulled plug'; end $$`
  for (const [table, when] of [
    ['webhook_endpoints', 'insert'],
    ['idempotency_keys', 'delete'],
  ])
    await world.pool.unsafe(`create trigger plug before ${when} on ${table} for each row execute function break()`)

  const failed = await api.post('/v1/webhook_endpoints', endpoint, keyed('a'))
  const early = await api.post('/v1/webhook_endpoints', endpoint, keyed('a'))
  await world.pool`drop trigger plug on webhook_endpoints`
  await world.pool`drop trigger plug on idempotency_keys`
  await world.clock.advance(500)
  await until(
    'the key to be free',
    async () => await world.pool`select 1 from idempotency_keys`,
    (rows) => rows.length === 0,
  )
  const repeated = await api.post('/v1/webhook_endpoints', endpoint, keyed('a'))

  assert.deepEqual([failed, early].map(codeOf), [
    [500, 'internal_error'],
    [409, 'idempotency_key_in_use'],
  ])
  assert.deepEqual([repeated.status, repeated.headers['idempotent-replayed']], [201, undefined])
  assert.equal((await api.get('/v1/webhook_endpoints')).body.data.length, 1)
})

async function holdTable(world: World, table: string) {
  const pool = testPool(world.database_url, { max: 1 })
  await pool.unsafe(`begin; set local idle_in_transaction_session_timeout = 0; lock table ${table} in exclusive mode`)
  return {
    async untilWaiting(sessions = 1) {
      await until(
        `${sessions} sessions to wait for a lock`,
        () => lockWaits(world.pool),
        (waiting) => waiting >= sessions,
      )
    },
    async release() {
      await pool.unsafe('commit')
      await pool.end()
    },
  }
}
