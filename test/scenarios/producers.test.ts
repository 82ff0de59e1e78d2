/** A producer gets exactly one message for each of its rows (docs/decisions/producers.md). */
import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { bulkRowsMax } from '../../src/modules/messages/accept/group-commit.ts'
import type { ItemOutcome } from '../../src/modules/messages/service.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { closing } from '../support/closing.ts'
import { holdOpen } from '../support/open-transactions.ts'
import { testPool } from '../support/pool.ts'
import { startProcess } from '../support/process.ts'
import { submitKeys, testProducer } from '../support/producer.ts'
import { until } from '../support/waiting.ts'
import { startWorld, type TestAccount } from '../support/world.ts'

const price = 7500
/** Above the threshold of balance.low nothing needs a decision; below it everything takes the locking path. */
const wallets = { optimistic: 1_000_000_000, locking: 900_000 }

for (const [path, credit_micros] of Object.entries(wallets)) {
  test(`each row becomes one message, which stores its key; a row with a message is known (${path} path)`, async (t) => {
    const { world, producer, sent } = await shop(t, credit_micros)

    const first = await sent.submit(sent.keys)
    const again = await sent.submit(sent.keys)

    assert.deepEqual(kindsOf(first), { accepted: sent.keys.length })
    const rows = await producer.rows(world.pool)
    assert.deepEqual(
      rows.map(({ status, message_id }) => [status, message_id]),
      first.map((outcome) => ['sent', idOf(outcome)]),
    )
    assert.deepEqual(
      again,
      rows.map(({ message_id }) => ({ kind: 'known', message_id })),
    )
    assert.deepEqual(
      await messagesOf(world),
      rows.map(({ key, message_id }) => ({
        submission_key: key,
        id: message_id,
        origin_type: 'console',
        origin_id: 'usr_test',
      })),
    )
    await world.invariants()
  })

  test(`a cancelled row is withdrawn, an opted-out one refused for good, an invalid one refused alone (${path} path)`, async (t) => {
    const { world, producer, sent } = await shop(t, credit_micros)
    const [cancelled, blocked, poisoned, ...good] = sent.keys
    await producer.cancel(world.pool, [cancelled!])
    await sent.account.api.post('/v1/contacts', { phone: '+19995550007', blocked: true })
    await world.pool`alter table messages add constraint poison check (reference is distinct from 'poison')`
    const more = (key: string) =>
      key === blocked ? { to: '+19995550007' } : key === poisoned ? { reference: 'poison' } : {}

    const outcomes = await sent.submit(sent.keys, { more })

    assert.deepEqual(outcomes.slice(0, 3), [
      { kind: 'withdrawn' },
      { kind: 'refused', code: 'recipient_blocked' },
      { kind: 'refused', code: 'parameter_invalid' },
    ])
    assert.deepEqual(kindsOf(outcomes.slice(3)), { accepted: good.length })
    assert.deepEqual(
      (await producer.rows(world.pool)).slice(0, 3).map(({ status, code }) => [status, code]),
      [
        ['cancelled', null],
        ['refused', 'recipient_blocked'],
        ['refused', 'parameter_invalid'],
      ],
    )
    assert.equal((await messagesOf(world)).length, good.length)
    await world.invariants()
  })
}

test('a row without funds stays pending, and is sent once there are funds', async (t) => {
  const { world, producer, sent } = await shop(t, 3 * price)

  const poor = await sent.submit(sent.keys)
  const waiting = (await producer.rows(world.pool)).map(({ status }) => status)
  await world.services.billing.creditWallet(world.pool, sent.account.id, 100_000_000, null)
  const rich = await sent.submit(sent.keys.slice(3))

  assert.deepEqual(
    poor.map(({ kind }) => kind),
    sent.keys.map((_, at) => (at < 3 ? 'accepted' : 'no_funds')),
  )
  assert.deepEqual(
    waiting,
    sent.keys.map((_, at) => (at < 3 ? 'sent' : 'pending')),
  )
  assert.deepEqual(kindsOf(rich), { accepted: sent.keys.length - 3 })
  await world.invariants()
})

test('processes that submit the same rows concurrently create each message once', async (t) => {
  const { world, producer, sent } = await shop(t, wallets.optimistic, 300)
  const processes = await Promise.all(['two', 'three'].map((name) => startProcess(t, world, name)))
  const apps = [world.app, ...processes.map(({ app }) => app)]

  const outcomes = await Promise.all(
    apps.flatMap((app, at) =>
      (['bulk', 'interactive'] as const).map((traffic) =>
        sent.submit(at % 2 === 0 ? sent.keys : sent.keys.toReversed(), { app, traffic }),
      ),
    ),
  )

  assert.equal(outcomes.flat().filter(({ kind }) => kind === 'accepted').length, sent.keys.length)
  assert.deepEqual(
    (await messagesOf(world)).map(({ submission_key, id }) => [submission_key, id]),
    (await producer.rows(world.pool)).map(({ key, message_id }) => [key, message_id]),
  )
  await world.invariants()
})

test('a row submitted twice in one batch becomes one message, and the other rows are accepted', async (t) => {
  const { world, producer, sent } = await shop(t, wallets.optimistic, 40)
  const { messages } = world.services
  const tenant = { account_id: sent.account.id as `acc_${string}`, mode: 'live' as const }
  const message = await messages.check(tenant, {
    channel: sent.channel,
    to: '+19995550006',
    type: 'text',
    text: { body: 'Once' },
  })
  const submit = (keys: readonly string[]) =>
    messages.submit({
      origin: { type: 'console', id: 'usr_test' },
      traffic: 'bulk',
      items: keys.map((submission_key) => ({ message, submission_key })),
      producer: { kind: 'test' },
    })

  const [first, second] = await Promise.all([submit(sent.keys), submit(sent.keys.slice(30))])

  const rows = await producer.rows(world.pool)
  assert.deepEqual(
    first.map(idOf),
    rows.map(({ message_id }) => message_id),
  )
  assert.deepEqual(
    second,
    rows.slice(30).map(({ message_id }) => ({ kind: 'known', message_id })),
  )
  assert.equal((await messagesOf(world)).length, sent.keys.length)
  await world.invariants()
})

test('after a connection is lost during the commit, stored messages are accepted and the others are stored', async (t) => {
  const { world, producer, sent } = await shop(t, wallets.optimistic)
  const other = testPool(world.database_url, { max: 2, application_name: 'other' })
  closing(t, () => other.end({ timeout: 1 }))
  const waiting = async () =>
    await other<
      { pid: number }[]
    >`select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`

  const outcomes = await holdOpen(other, async (tx) => {
    await tx`select 1 from wallets where account_id = ${sent.account.id} for update`
    const submitted = sent.submit(sent.keys)
    await until('the statement that waits for the wallet', async () => (await waiting()).length > 0)
    for (const { pid } of await waiting()) await other`select pg_terminate_backend(${pid}::int)`
    return { submitted }
  })

  assert.deepEqual(kindsOf(await outcomes.submitted), { accepted: sent.keys.length })
  assert.equal((await messagesOf(world)).length, sent.keys.length)
  assert.ok((await producer.rows(world.pool)).every(({ status }) => status === 'sent'))
  await world.invariants()
})

test('bulk traffic waits at its limit instead of being refused, and interactive traffic overtakes it', async (t) => {
  const { world, sent } = await shop(t, wallets.optimistic, bulkRowsMax * 2)
  const { api } = sent.account
  let done = 0

  const halves = [sent.keys.slice(0, bulkRowsMax), sent.keys.slice(bulkRowsMax)]
  const bulk = halves.map((keys) => sent.submit(keys).finally(() => done++))
  await until('more rows than are let in', () => world.app.services.ingest.load().unadmitted > 0)
  const before = world.app.services.ingest.load()
  const answers = await Promise.all(
    Array.from({ length: 20 }, () =>
      api.post('/v1/messages', { channel: sent.channel, to: '+19995550006', type: 'text', text: { body: 'Now' } }),
    ),
  )
  const unfinished = done

  assert.ok(before.bulk <= bulkRowsMax, `${before.bulk} rows`)
  assert.ok(answers.every(({ status }) => status === 202))
  assert.equal(unfinished, 0)
  assert.deepEqual(kindsOf((await Promise.all(bulk)).flat()), { accepted: sent.keys.length })
  await world.invariants()
})

test('a request is committed beside a bulk chunk, and waits for it only at the wallet', async (t) => {
  const { world, sent } = await shop(t, wallets.optimistic)
  const other = await world.account({ mode: 'live', credit_micros: wallets.optimistic })
  const channel = await smsChannel(other, '+15550101')
  const held = await holdWallet(t, world, sent.account.id)

  const bulk = sent.submit(sent.keys)
  await until('the piece that waits for its wallet', held.isWantedBy(1))
  const answer = await other.api.post('/v1/messages', {
    channel,
    to: '+19995550006',
    type: 'text',
    text: { body: 'Now' },
  })
  await held.release()

  assert.equal(answer.status, 202)
  assert.deepEqual(kindsOf(await bulk), { accepted: sent.keys.length })
  await world.invariants()
})

test('a batch of several accounts locks their wallets in one order, and has none locked while it waits for an earlier one', async (t) => {
  const { world, sent } = await shop(t, wallets.optimistic)
  const accounts = [sent.account, await world.account({ mode: 'live', credit_micros: wallets.optimistic })].toSorted(
    (a, b) => (a.id < b.id ? -1 : 1),
  )
  const channels = await Promise.all(
    accounts.map(async (account) => (account === sent.account ? sent.channel : await smsChannel(account, '+15550101'))),
  )
  const [first, last] = accounts
  // from here on its row lies behind the other one, so it would be locked later
  await world.services.billing.creditWallet(world.pool, first!.id, 1, null)
  const held = await holdWallet(t, world, first!.id)

  const submitted = [1, 0].map(async (at) => {
    const tenant = { account_id: accounts[at]!.id as `acc_${string}`, mode: 'live' as const }
    const message = await world.services.messages.check(tenant, {
      channel: channels[at],
      to: '+19995550006',
      type: 'text',
      text: { body: 'Both' },
    })
    return { origin: { type: 'api', id: null }, traffic: 'interactive', items: [{ message }] } as const
  })
  const outcomes = (await Promise.all(submitted)).map((submission) => world.services.messages.submit(submission))
  await until('the batch that waits for the first wallet', held.isWantedBy(1))
  const free = await held.other`select account_id from wallets where account_id = ${last!.id} for update nowait`
  await held.release()

  assert.equal(free.length, 1)
  assert.deepEqual(kindsOf((await Promise.all(outcomes)).flat()), { accepted: 2 })
  await world.invariants()
})

test('a batch contains submissions of one producer, and each completes only its own rows', async (t) => {
  const [one, two] = [testProducer('one'), testProducer('two')]
  const world = await startWorld(t, { producers: [one.fragment, two.fragment] })
  const account = await world.account({ mode: 'live', credit_micros: wallets.optimistic })
  const tenant = { account_id: account.id as `acc_${string}`, mode: 'live' as const }
  const channel = await smsChannel(account)
  for (const producer of [one, two]) await producer.prepare(world.pool)
  const [ones, twos] = [await one.add(world.pool, tenant, 20), await two.add(world.pool, tenant, 20)]

  const outcomes = await Promise.all(
    ones.flatMap((_, at) => [
      submitKeys(world.app, { tenant, channel, keys: [ones[at]!], kind: 'one', traffic: 'interactive' }),
      submitKeys(world.app, {
        tenant,
        channel,
        keys: [twos[at]!],
        kind: 'two',
        traffic: at % 2 === 0 ? 'bulk' : 'interactive',
      }),
    ]),
  )

  assert.deepEqual(kindsOf(outcomes.flat()), { accepted: 40 })
  for (const producer of [one, two])
    assert.ok((await producer.rows(world.pool)).every(({ status }) => status === 'sent'))
  await world.invariants()
})

test('invalid input of a producer is reported before anything is stored', async (t) => {
  const { world, sent } = await shop(t, wallets.optimistic)

  await assert.rejects(sent.submit(sent.keys, { kind: 'nobody' }), /no producer has the kind nobody/)
  await assert.rejects(sent.submit([sent.keys[0]!, sent.keys[0]!]), /a submission key of its own/)
  assert.deepEqual(await messagesOf(world), [])
})

test("a marketing stop during the commit of a producer's message prevents it", async (t) => {
  const producer = testProducer()
  const world = await startWorld(t, { producers: [producer.fragment] })
  const account = await world.account()
  const tenant = { account_id: account.id as `acc_${string}`, mode: 'test' as const }
  await producer.prepare(world.pool)
  const [key] = await producer.add(world.pool, tenant, 1)
  const templates = (await account.api.get('/v1/channels/ch_test_whatsapp/templates')).body.data as {
    name: string
    category: string
  }[]
  const { name } = templates.find(({ category }) => category === 'MARKETING')!
  const ada = (await account.api.post('/v1/contacts', { phone: '+4915112345678' })).body
  const body = {
    channel: 'ch_test_whatsapp',
    to: '+4915112345678',
    type: 'template',
    template: { name, language: { code: 'en_US' } },
  }

  const message = await world.services.messages.check(tenant, body)
  await account.api.patch(`/v1/contacts/${ada.id}`, { consent: { whatsapp: { marketing: 'opted_out' } } })
  // longer than an opt-out makes the process check the whole account again
  await world.clock.advance(10_000)
  const [outcome] = await world.services.messages.submit({
    origin: { type: 'console', id: 'usr_test' },
    traffic: 'bulk',
    items: [{ message, submission_key: key! }],
    producer: { kind: 'test' },
  })
  await world.settle()

  const { status, error } = (await account.api.get(`/v1/messages/${idOf(outcome!)}`)).body
  assert.deepEqual([status, error.code], ['failed', 'recipient_blocked'])
  await world.invariants()
})

async function shop(t: TestContext, credit_micros: number, count = 12) {
  const producer = testProducer()
  const world = await startWorld(t, { producers: [producer.fragment] })
  const account = await world.account({ mode: 'live', credit_micros })
  const tenant = { account_id: account.id as `acc_${string}`, mode: 'live' as const }
  const channel = await smsChannel(account)
  await producer.prepare(world.pool)
  const keys = await producer.add(world.pool, tenant, count)
  const submit = (
    wanted: readonly string[],
    more: Partial<Parameters<typeof submitKeys>[1]> & { app?: typeof world.app } = {},
  ) => submitKeys(more.app ?? world.app, { tenant, channel, keys: wanted, ...more })
  return { world, producer, sent: { account, channel, keys, submit } }
}

async function holdWallet(t: TestContext, { database_url }: { readonly database_url: string }, account_id: string) {
  const other = testPool(database_url, { max: 2, application_name: 'other' })
  closing(t, () => other.end({ timeout: 1 }))
  const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = holdOpen(other, async (tx) => {
    await tx`select 1 from wallets where account_id = ${account_id} for update`
    locked.resolve()
    await released.promise
  })
  await locked.promise
  return {
    other,
    isWantedBy: (count: number) => async () => (await lockWaits(other)) >= count,
    async release() {
      released.resolve()
      await holding
    },
  }
}

async function smsChannel({ api }: TestAccount, identifier = '+15550100'): Promise<string> {
  const { body } = await api.post('/v1/channels', {
    type: 'sms',
    provider: 'simulator',
    name: 'Shop',
    identifier,
    credentials: {},
  })
  return body.id as string
}

const messagesOf = async ({ pool }: { pool: Awaited<ReturnType<typeof startWorld>>['pool'] }) => [
  ...(await pool<{ submission_key: string; id: string; origin_type: string; origin_id: string }[]>`
    select submission_key, id, origin_type, origin_id from messages where submission_key is not null order by split_part(submission_key, '/', 2)::int`),
]

const idOf = (outcome: ItemOutcome): string | null => (outcome.kind === 'accepted' ? outcome.row.id : null)

function kindsOf(outcomes: readonly ItemOutcome[]): Record<string, number> {
  const kinds: Record<string, number> = {}
  for (const { kind } of outcomes) kinds[kind] = (kinds[kind] ?? 0) + 1
  return kinds
}
