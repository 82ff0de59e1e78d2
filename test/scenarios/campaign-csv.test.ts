/** Recipients of campaigns as CSV. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { request } from 'undici'
import type { Api } from '../support/api.ts'
import { until } from '../support/waiting.ts'
import { startWorld, type World } from '../support/world.ts'

const csv = { accept: 'text/csv' }
const message = { type: 'text', text: { body: 'Hello {{first_name}}' } }
const header =
  'id,contact_id,to,name,status,skip_reason,message_id,error_code,error_message,provider_code,variables,sent_at,delivered_at,read_at,failed_at'

const adhoc = (recipients: readonly object[]) => ({
  name: 'Sale',
  channel: 'ch_test_sms',
  audience: { type: 'adhoc', recipients },
  message,
})

async function snapshotOf(world: World, api: Api, recipients: readonly object[]): Promise<string> {
  const { id } = (await api.post('/v1/campaigns', { ...adhoc(recipients), launch: true, consent_declared: true })).body
  await world.settle('campaign-snapshots')
  return id
}

const numbered = (count: number) => Array.from({ length: count }, (_, i) => ({ to: `+49151${String(10_000_000 + i)}` }))

test('recipients as CSV are in the order of the snapshot, filtered like the list, with formulas escaped', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const ada = { to: '+4915112345678', first_name: '=Ada', variables: { code: 'A,1' } }
  const id = await snapshotOf(world, api, [ada, { to: 'nobody' }, { to: '+4915112345679' }])

  const all = await api.get(`/v1/campaigns/${id}/recipients`, csv)
  const skipped = await api.get(`/v1/campaigns/${id}/recipients?status=skipped`, csv)
  const one = await api.get(`/v1/campaigns/${id}/recipients?to=%2B4915112345679&limit=1`, csv)

  assert.deepEqual(
    [all.status, all.headers['content-type'], all.headers['x-content-type-options']],
    [200, 'text/csv; charset=utf-8', 'nosniff'],
  )
  assert.deepEqual(all.body.split('\r\n'), [
    header,
    `1,,+4915112345678,'=Ada,pending,,,,,,"{""code"":""A,1""}",,,,`,
    '2,,nobody,,skipped,invalid_identifier,,,,,{},,,,',
    '3,,+4915112345679,,pending,,,,,,{},,,,',
    '',
  ])
  assert.deepEqual(skipped.body.split('\r\n').slice(1), ['2,,nobody,,skipped,invalid_identifier,,,,,{},,,,', ''])
  assert.deepEqual(one.body.split('\r\n').slice(1), ['3,,+4915112345679,,pending,,,,,,{},,,,', ''])
})

test('the CSV contains all recipients however many pages they fill, and none before the snapshot', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const draft = (await api.post('/v1/campaigns', adhoc(numbered(2)))).body.id
  const id = await snapshotOf(world, api, numbered(2500))

  const none = await api.get(`/v1/campaigns/${draft}/recipients`, csv)
  const all = await api.get(`/v1/campaigns/${id}/recipients?limit=5`, csv)
  const missing = await api.get('/v1/campaigns/cmp_01m7z10y8texgrjk0p9bvk2cq6/recipients', csv)

  assert.equal(none.body, `${header}\r\n`)
  const ids = all.body
    .split('\r\n')
    .slice(1, -1)
    .map((line: string) => Number(line.split(',')[0]))
  assert.deepEqual(
    ids,
    Array.from({ length: 2500 }, (_, i) => i + 1),
  )
  assert.deepEqual([missing.status, missing.body.error.code], [404, 'resource_missing'])
})

test('a client that disconnects or never reads occupies no database connection', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const id = await snapshotOf(world, account.api, numbered(10_000))
  const headers = { ...csv, authorization: `Bearer ${account.key}` }
  const url = `${world.base_url}/v1/campaigns/${id}/recipients`

  const [unread, left] = [await request(url, { headers }), await request(url, { headers })]
  left.body.on('error', () => undefined).destroy()
  await until(
    'no read to be under way',
    () => world.platform.reads.use(),
    ({ in_use, waiting }) => in_use === 0 && waiting === 0,
  )
  const another = await account.api.get(`/v1/campaigns/${id}/recipients?status=skipped`, csv)
  unread.body.on('error', () => undefined).destroy()

  assert.deepEqual([unread.statusCode, another.body], [200, `${header}\r\n`])
})
