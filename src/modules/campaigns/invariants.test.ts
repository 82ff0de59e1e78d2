import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startWorld } from '../../../test/support/world.ts'
import { campaignInvariants } from './invariants.ts'

const [counters, oneMessage, belongs, asFar, cost, job, waiting, numbered] = campaignInvariants.map(({ name }) => name)

test('each inconsistency of campaigns is reported by its invariant', async (t) => {
  const world = await startWorld(t)
  const { pool, clock, services } = world
  await services.billing.prices.setPrice(pool, null, 'sms', 1000)
  const { api } = await world.account({ mode: 'live', credit_micros: 1_000_000 })
  const channel = await api.post('/v1/channels', {
    type: 'sms',
    provider: 'simulator',
    name: 'Shop',
    identifier: '+4915100000001',
    credentials: {},
  })
  const recipients = ['+4915112345678', '+19995550001', 'nobody', '+4915112345679'].map((to) => ({ to }))
  const body = {
    channel: channel.body.id,
    message: { type: 'text', text: { body: 'Hello' } },
    audience: { type: 'adhoc', recipients },
    consent_declared: true,
  }
  const launched = async (name: string): Promise<string> =>
    (await api.post('/v1/campaigns', { ...body, name, launch: true })).body.id
  const ended = await launched('ended')
  for (let turn = 0; turn < 40; turn++) {
    await world.tick('campaign-snapshots', 'campaigns', 'dispatch', 'callbacks', 'project-campaigns')
    await clock.advance(500)
  }
  const going = await launched('going')
  await world.tick('campaign-snapshots', 'campaign-snapshots')
  assert.equal((await api.get(`/v1/campaigns/${ended}`)).body.status, 'completed')
  const after = async (...statements: string[]): Promise<string[]> => {
    const found: string[] = []
    await pool
      .begin(async (tx) => {
        for (const statement of statements) await tx.unsafe(statement)
        for (const { name, breaches } of campaignInvariants) if ((await breaches(tx)).length > 0) found.push(name)
        throw new Error('back')
      })
      .catch(() => undefined)
    return found
  }
  const of = (id: string) => `where campaign_id = '${id}'`

  assert.deepEqual(await after(), [])
  await world.invariants()
  assert.deepEqual(await after(counterOf(ended, `'sent', 1, 0`)), [counters])
  assert.deepEqual(await after(`update campaign_recipients set skip_reason = 'duplicate' ${of(ended)} and n = 3`), [])
  assert.deepEqual(
    await after(
      'alter table campaign_recipients disable trigger user',
      `update campaign_recipients set skip_reason = 'duplicate' ${of(ended)} and n = 3`,
    ),
    [counters],
  )
  assert.deepEqual(
    await after(
      `insert into messages select (m).* from (select jsonb_populate_record(m, '{"id": "msg_2"}') as m from messages m ${ofKey(ended, 1)}) c`,
    ),
    [oneMessage, belongs],
  )
  assert.deepEqual(await after(`update campaign_recipients set message_id = null ${of(ended)} and n = 1`), [
    counters,
    belongs,
  ])
  assert.deepEqual(await after(`update campaign_recipients set status = 'sent' ${of(ended)} and n = 1`), [asFar])
  assert.deepEqual(await after(counterOf(ended, 'null, 0, 1')), [cost])
  assert.deepEqual(await after(`delete from ledger_entries where type = 'message_refund'`), [cost])
  assert.deepEqual(await after('delete from campaign_jobs'), [job])
  assert.deepEqual(await after(`update campaign_jobs set kind = 'snapshot'`), [job])
  assert.deepEqual(await after(`update campaigns set status = 'completed' where id = '${going}'`), [waiting])
  assert.deepEqual(
    await after(`update campaigns set status = 'failed' where id = '${going}'`, 'delete from campaign_jobs'),
    [waiting],
  )
  assert.deepEqual(await after(`delete from campaign_recipients ${of(going)} and n = 2`), [numbered])
  assert.deepEqual(await after(`delete from campaign_recipients ${of(going)} and n = 4`), [numbered])
})

const counterOf = (id: string, values: string): string =>
  `insert into campaign_counters (account_id, mode, campaign_id, status, recipients, wallet_micros) select account_id, mode, id, ${values} from campaigns where id = '${id}'`
const ofKey = (id: string, n: number): string => `where submission_key = '${id}/${n}'`
