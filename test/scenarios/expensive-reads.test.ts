import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { request } from 'undici'
import { refusesWrites } from '../../src/platform/database/failures.ts'
import { problemOf } from '../../src/platform/http/responses.ts'
import type { Answered, Api } from '../support/api.ts'
import { closing } from '../support/closing.ts'
import { holdOpen } from '../support/open-transactions.ts'
import { startProcess } from '../support/process.ts'
import { until, within } from '../support/waiting.ts'
import { startWorld, type TestAccount, type World } from '../support/world.ts'

/** Waits while somebody locks the table of list members. */
const inSomeList = { match: 'all', conditions: [{ field: 'lists', operator: 'exists' }] }
const blocked = { match: 'all', conditions: [{ field: 'blocked', operator: 'equals', value: true }] }

async function start(t: TestContext) {
  const world = await startWorld(t)
  const [busy, other] = [await world.account(), await world.account()]
  const contact = (await busy.api.post('/v1/contacts', { phone: '+15005550010' })).body.id as string
  return { world, busy, other, contact, segment: await segmentOf(busy, inSomeList) }
}

async function segmentOf({ api }: TestAccount, rules: object): Promise<string> {
  const made = await api.post('/v1/segments', { name: 'Segment', rules })
  assert.equal(made.status, 201)
  return made.body.id
}

/** Blocks every read of lists until the test ends or the returned function is called. */
async function holdLists(t: TestContext, { pool, platform }: World): Promise<() => Promise<void>> {
  // a string, because the driver omits the number 0
  Object.assign(platform.reads.pool.options.connection, { statement_timeout: '0' })
  const [held, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = holdOpen(pool, async (tx) => {
    await tx`lock table contact_lists in access exclusive mode`
    held.resolve()
    await ended.promise
  })
  const release = async () => {
    ended.resolve()
    await holding
  }
  closing(t, release)
  await held.promise
  return release
}

const underWay = async ({ pool }: World): Promise<number> =>
  (
    await pool`select from pg_stat_activity where datname = current_database() and application_name like '% reads' and state <> 'idle'`
  ).length

const refusedAs = ({ status, headers, body }: Answered) => [
  status,
  body.error?.code,
  headers['retry-after'] === undefined ? null : Number(headers['retry-after']) >= 1,
]

test('callers that disconnect repeatedly leave no reads behind, and others are answered', async (t) => {
  const { world, busy, other, segment } = await start(t)
  await holdLists(t, world)

  for (let storm = 0; storm < 3; storm++) {
    const away = new AbortController()
    const calls = Array.from({ length: 12 }, async () =>
      request(`${world.base_url}/v1/segments/${segment}/preview`, {
        headers: { authorization: `Bearer ${busy.key}` },
        signal: away.signal,
      }),
    )
    const answers = Promise.allSettled(calls)
    await until(
      'two previews to read and ten to wait',
      async () => [await underWay(world), world.platform.reads.use().waiting].join(),
      (seen) => seen === '2,10',
    )
    const [sent, ready] = [await other.api.post('/v1/messages', message), await request(`${world.base_url}/readyz`)]
    away.abort()

    assert.deepEqual([sent.status, ready.statusCode], [202, 200])
    await ready.body.dump()
    assert.ok((await answers).every(({ status }) => status === 'rejected'))
    await until(
      'every read to be gone',
      async () => [await underWay(world), ...Object.values(world.platform.reads.use())].join(),
      (seen) => seen === '0,0,0,4',
    )
  }
  assert.match(await metricsOf(world), /posthorn_reads_ended_total\{reason="abandoned"\} 36/)
})

/** All expensive reads that an account may run at once, blocked until `release`. */
async function twoPreviews(t: TestContext, world: World, api: Api, segment: string) {
  const release = await holdLists(t, world)
  const previews = [1, 2].map(() => api.get(`/v1/segments/${segment}/preview`))
  await until(
    'both previews to read',
    () => underWay(world),
    (count) => count === 2,
  )
  return { release, previews }
}

test("a third expensive read of an account is refused after five seconds, while another account's continues", async (t) => {
  const { world, busy, other, contact, segment } = await start(t)
  const plain = await segmentOf(other, blocked)
  const { release, previews } = await twoPreviews(t, world, busy.api, segment)
  const more = [
    `/v1/segments/${segment}/preview`,
    `/v1/contacts?segment=${segment}`,
    '/v1/contacts/export',
    `/v1/contacts/${contact}/export`,
    '/v1/usage',
  ].map((path) => busy.api.get(path))
  await until(
    'the others to wait',
    () => world.platform.reads.use().waiting,
    (count) => count === 5,
  )

  await world.clock.advance(4_999)
  const elsewhere = await other.api.get(`/v1/segments/${plain}/preview`)
  const meanwhile = world.platform.reads.use().waiting
  const cheap = await busy.api.get('/v1/contacts')
  await world.clock.advance(1)
  const refused = await within('the refusals', Promise.all(more))
  await release()
  const read = await Promise.all(previews)

  assert.deepEqual([elsewhere.status, meanwhile, cheap.status], [200, 5, 200])
  for (const answer of refused) {
    assert.deepEqual(refusedAs(answer), [429, 'rate_limit_exceeded', true])
    assert.ok(Number(answer.headers['ratelimit-remaining']) > 0)
  }
  assert.deepEqual(
    read.map(({ status }) => status),
    [200, 200],
  )
  assert.match(await metricsOf(world), /posthorn_reads_ended_total\{reason="refused"\} 5/)
})

test('a waiting read starts as soon as an earlier one has ended', async (t) => {
  const { world, busy, segment } = await start(t)
  const release = await holdLists(t, world)
  const previews = [1, 2, 3, 4].map(() => busy.api.get(`/v1/segments/${segment}/preview`))
  await until(
    'two of them to wait',
    () => world.platform.reads.use().waiting,
    (count) => count === 2,
  )

  await release()
  const answers = await Promise.all(previews)

  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 200],
  )
})

test('an account has at most two reads across all processes', async (t) => {
  const { world, busy, segment } = await start(t)
  const second = await startProcess(t, world, 'second')
  const { release, previews } = await twoPreviews(t, world, busy.api, segment)

  let refused: Answered | undefined
  const third = second.api(busy.key).get(`/v1/segments/${segment}/preview`)
  void third.then((answer) => (refused = answer))
  // both end after ten seconds, so time may advance once it sleeps
  const asleep = () => world.clock.wakesAt().some((at) => at <= world.clock.now() + 100)
  await until('the third to look for a place', asleep)
  await world.clock.advance(4_900)
  await until('the third to look again', asleep)
  const early = refused
  await world.clock.advance(100)
  const answer = await within('the refusal', third)
  await release()
  await Promise.all(previews)
  const later = await second.api(busy.key).get(`/v1/segments/${segment}/preview`)

  assert.equal(early, undefined)
  assert.deepEqual(refusedAs(answer), [429, 'rate_limit_exceeded', true])
  assert.equal(later.status, 200)
})

test('a read of ten seconds is ended with 503 and advice to narrow it', async (t) => {
  const { world, busy } = await start(t)
  const segment = await segmentOf(busy, {
    match: 'all',
    conditions: [
      ...blocked.conditions,
      { match: 'any', conditions: [{ field: 'tags', operator: 'contains', value: 'vip' }, ...inSomeList.conditions] },
    ],
  })
  await busy.api.post('/v1/contacts', { phone: '+15005550011', blocked: true })
  const release = await holdLists(t, world)
  const preview = busy.api.get(`/v1/segments/${segment}/preview`)
  const listed = busy.api.get(`/v1/contacts?segment=${segment}`)
  await until(
    'both to read',
    () => waitingForLists(world),
    (count) => count === 2,
  )

  await world.clock.advance(10_000)
  const answers = await within('the answers', Promise.all([preview, listed]))
  await until(
    'the reads to be gone',
    () => underWay(world),
    (count) => count === 0,
  )
  await release()

  for (const { status, body } of answers) {
    assert.deepEqual([status, body.error.code], [503, 'upstream_unavailable'])
    assert.match(body.error.message, /after 10 seconds.*`rules\.conditions\[1\]\.conditions\[1\]`.*\(lists exists\)/)
  }
  assert.match(await metricsOf(world), /posthorn_reads_ended_total\{reason="timed_out"\} 2/)
})

const waitingForLists = async ({ pool }: World): Promise<number> =>
  (
    await pool`select from pg_stat_activity where datname = current_database() and application_name like '% reads' and wait_event_type = 'Lock'`
  ).length

const message = { channel: 'ch_test_whatsapp', to: '+15005550006', type: 'text', text: { body: 'Hi' } }

async function metricsOf({ base_url }: World): Promise<string> {
  return await (await request(`${base_url}/metrics`)).body.text()
}

test('a read that writes is an internal error that reveals nothing about the database', async (t) => {
  const world = await startWorld(t)
  const request = { account_id: 'acc_1', gone: new AbortController().signal, narrow: 'Ask for less.' }

  const error = await world.platform.reads
    .run(request, (sql) => sql`delete from contacts`)
    .catch((thrown: unknown) => thrown)

  assert.match(String(error), /an expensive read tried to write/)
  assert.equal(problemOf(error), undefined)
  assert.equal(refusesWrites(error), false)
})
