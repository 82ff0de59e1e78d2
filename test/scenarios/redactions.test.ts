/** Redaction of customers after the webhook is answered (behaviour: integrations 4.8). */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { redactionJob } from '../../src/modules/automations/redactions/redaction.ts'
import { automationOf, happened } from '../support/automations.ts'
import { startProcess } from '../support/process.ts'
import { readSample, shopifyWebhook } from '../support/shop-webhooks.ts'
import { until } from '../support/waiting.ts'
import { startWorld, type TestAccount, type World } from '../support/world.ts'

const redactions = 'run-redactions'

async function shopOf(t: TestContext, secret = 'shpss_0123456789abcdef') {
  const world = await startWorld(t)
  const account = await world.account()
  const { id: source } = (
    await account.api.post('/v1/integration_sources', { platform: 'shopify', external_id: 'haus.myshopify.com' })
  ).body
  await account.api.patch(`/v1/integration_sources/${source}`, { signing_secret: secret })
  /** Without an id it redacts the sample's customer. */
  const redact = async (event_id: string, external_id?: number) => {
    const body =
      external_id === undefined
        ? readSample('shopify/customers-redact')
        : JSON.stringify({ customer: { id: external_id }, orders_to_redact: [] })
    const { headers } = shopifyWebhook('customers/redact', secret, body, { event_id })
    return await world.api().send('POST', `/v1/ingest/shopify/${source}`, headers, body)
  }
  return { world, account, source, redact }
}

/** Reports `count` receipts of customers in turn, each with a waiting run; their external ids are 0, 1, 2, … */
async function reported(
  world: World,
  account: TestAccount,
  source: string,
  receipts: number,
  count: number,
): Promise<void> {
  const automation = await automationOf(account, source)
  const events = Array.from({ length: receipts }, (_, n) => ({
    to: `+4915112${String(10_000 + (n % count))}`,
    customer: { external_id: String(n % count) },
    data: { n },
    delay_ms: 3600_000,
  }))
  await happened(world.platform, account, automation, events)
}

/** Receipts with content and waiting runs, of this customer and of all. */
async function left({ pool }: World, external_id: string) {
  const [row] = await pool<{ of_him: number; receipts: number; runs: number }[]>`
    select (select count(*)::int from automation_events where customer ->> 'external_id' = ${external_id}) as of_him,
      (select count(*)::int from automation_events where data::text like '%"n"%') as receipts,
      (select count(*)::int from automation_runs where status = 'scheduled' and "to" is not null) as runs`
  return { ...row! }
}

test('a redaction is answered before it runs, and another process finishes one that was killed', async (t) => {
  const { world, account, source, redact } = await shopOf(t)
  await reported(world, account, source, 3500, 2)
  const dying = await startProcess(t, world, 'dying')
  const [oldest] = await world.pool<
    { id: string }[]
  >`select min(id) as id from automation_events where customer ->> 'external_id' = '1'`
  const halfWay = async () => (await left(world, '1')).of_him

  assert.equal((await redact('1', 1)).status, 200)
  assert.deepEqual(await left(world, '1'), { of_him: 1750, receipts: 3500, runs: 3500 })
  // the oldest receipt is locked, so the job cannot finish
  const held = await world.pool.reserve()
  await held`begin`
  await held`set local idle_in_transaction_session_timeout = 0`
  await held`select from automation_events where id = ${oldest!.id} for update`
  const dead = dying.app.periodicJobs
    .find(({ name }) => name === redactions)!
    .run()
    .catch(() => 0)
  const seen = await until('most of the receipts to be emptied', halfWay, (of_him) => of_him === 250)
  await dying.kill()
  await held`rollback`
  held.release()
  void dead

  assert.equal(seen, 250)
  await world.periodicJobs()
  assert.deepEqual(await left(world, '1'), { of_him: 0, receipts: 1750, runs: 1750 })
  assert.deepEqual([...(await world.pool`select id from integration_redactions`)], [])
  await world.invariants()
})

test("data after a customer's redaction request remains, and a repeated request has no effect", async (t) => {
  const { world, account, source, redact } = await shopOf(t)
  await reported(world, account, source, 4, 2)

  const [first, again] = [await redact('1', 1), await redact('1', 1)]
  await world.clock.advance(10)
  await reported(world, account, source, 4, 2)
  const kept = await world.pool`select id from integration_redactions`
  await world.periodicJobs()

  assert.deepEqual([first.body.status, again.body.status, kept.length], ['ignored', 'duplicate', 1])
  assert.deepEqual(await left(world, '1'), { of_him: 2, receipts: 6, runs: 6 })
  await redact('1', 1)
  await world.periodicJobs()
  assert.equal((await left(world, '1')).of_him, 2)
})

test('a failing redaction delays no other, is retried, and is reported by metrics and doctor', async (t) => {
  const { world, account, source, redact } = await shopOf(t)
  await reported(world, account, source, 4, 2)
  const contact = (await account.api.post('/v1/contacts', { phone: '+49301234567' })).body
  const { contacts } = world.services
  const refusing = { ...contacts, remove: () => Promise.reject(new Error('the database is on fire')) }
  const { body } = await redact('1')
  await redact('2', 1)

  await assert.rejects(redactionJob({ platform: world.platform, contacts: refusing }).run(), new RegExp(body.id))
  assert.equal((await left(world, '1')).of_him, 0)
  assert.equal((await account.api.get(`/v1/contacts/${contact.id}`)).status, 200)
  await world.clock.advance(3600_001)
  await assert.rejects(world.invariants(), new RegExp(`a redaction is done within the hour.*${body.id}`))
  for (const { name, run } of world.app.periodicJobs) if (name === 'measure-integrations') await run()
  assert.equal((await world.platform.metrics.integration_redaction_age_seconds.get()).values[0]!.value, 3600.001)

  await world.periodicJobs()
  assert.equal((await account.api.get(`/v1/contacts/${contact.id}`)).status, 404)
  await world.invariants()
})
