/** Crash test of campaigns: workers are killed while campaigns are paused, resumed and cancelled. */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { Campaign } from '../../src/api/resources/campaign.ts'
import { systemClock } from '../../src/lib/clock.ts'
import type { Pool } from '../../src/platform/database/sql.ts'
import { startApiAlone, type ApiAlone } from '../support/api-alone.ts'
import { seeded } from '../support/random.ts'
import { workerProcesses } from '../support/worker-processes.ts'
import { effort, seedsOf } from '../support/effort.ts'

const seed = seedsOf(1, '1')[0]!
const campaignsAtOnce = 4
const recipientsEach = 500
const workers = 3
const price = 7500
const credit = 2 * campaignsAtOnce * recipientsEach * price
const clock = systemClock()
const wildMs = effort(5_000, 20_000)

test('despite kills, pauses, resumes and cancels, each recipient has one message or a reason, and counters, wallet and events are exact', async (t) => {
  const service = await startApiAlone(t, { POSTHORN_SIMULATOR: 'true' }, credit)
  const random = seeded(seed)
  const ids = await launchAll(service)
  const crowd = await workerProcesses(t, service, workers)
  const done = new Map(ids.map((id) => [id, { pauses: 0, resumes: 0, cancelled: false, pausedUnstarted: false }]))

  const calmAt = clock.now() + wildMs
  for (let open = ids, round = 0; open.length > 0; round++) {
    await clock.sleep(random.below(200))
    const id = random.pick(open)
    const chance = clock.now() < calmAt ? random.next() : 0.3
    if (chance < 0.12) await crowd.killOne(random.below(workers))
    else if (chance < 0.25) await act(service, id, 'pause', done.get(id)!)
    else if (chance < 0.5) await act(service, id, 'resume', done.get(id)!)
    else if (chance > 0.995) await act(service, id, 'cancel', done.get(id)!)
    const seen = await exactlyCounted(service)
    open = seen
      .filter(({ status, counters }) => !['completed', 'cancelled', 'failed'].includes(status) || counters.queued > 0)
      .map((campaign) => campaign.id)
    if (round % 25 === 0)
      t.diagnostic(seen.map(({ status, counters: { total, sent } }) => `${status} ${sent}/${total}`).join(', '))
  }
  // a process may not have installed its signal handlers yet
  assert.ok((await crowd.stop()).every((code) => code === 0 || code === null))
  await service.app.worker('project-campaigns').tick()

  t.diagnostic(`${crowd.kills()} kills, seed ${seed}`)
  const campaigns = await exactlyCounted(service)
  assert.deepEqual([...(await wronged(service.pool))], [])
  for (const campaign of campaigns) {
    const { pauses, resumes, cancelled, pausedUnstarted } = done.get(campaign.id)!
    const started = resumes + (campaign.started_at === null || pausedUnstarted ? 0 : 1)
    assert.equal(campaign.status, cancelled ? 'cancelled' : 'completed')
    assert.equal(campaign.counters.total, campaign.started_at === null ? 0 : recipientsEach)
    assert.equal(campaign.cost.wallet_micros, campaign.counters.sent * price)
    assert.deepEqual(await eventsOf(service.pool, campaign.id), [
      ...(cancelled ? [] : [{ type: 'campaign.completed', times: 1 }]),
      ...(pauses === 0 ? [] : [{ type: 'campaign.paused', times: pauses }]),
      ...(started === 0 ? [] : [{ type: 'campaign.started', times: started }]),
    ])
  }
  const { body: balance } = await service.api.get('/v1/balance')
  assert.equal(balance.wallet_micros, credit - campaigns.reduce((sum, { cost }) => sum + cost.wallet_micros, 0))
  assert.deepEqual(await breaches(service), [])
})

/** Most are delivered; some are refused, fail, lack an address, or appear twice. */
const recipientOf = (n: number): string => {
  if (n % 50 === 1) return '+19995550001'
  if (n % 50 === 2) return `+1999555000${n % 100 === 2 ? 2 : 1}`
  return n % 60 === 3 ? 'nobody' : `+1999555${String(1000 + (n % 100 === 4 ? n - 1 : n))}`
}

async function launchAll({ api }: ApiAlone): Promise<string[]> {
  const settings = { max_messages_per_second: 1000, latency_ms: 30 }
  const channel = {
    type: 'sms',
    provider: 'simulator',
    name: 'Shop',
    identifier: '+4915100000001',
    credentials: {},
    settings,
  }
  const { id: channel_id } = (await api.post('/v1/channels', channel)).body
  const ids: string[] = []
  for (let i = 0; i < campaignsAtOnce; i++) {
    const made = await api.post('/v1/campaigns', {
      name: `Campaign ${i}`,
      channel: channel_id,
      audience: {
        type: 'adhoc',
        recipients: Array.from({ length: recipientsEach }, (_, n) => ({ to: recipientOf(n), variables: { n } })),
      },
      message: { type: 'text', text: { body: 'You are number {{n}}.' } },
      throttle_per_second: 100,
      consent_declared: true,
      launch: true,
    })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    ids.push(made.body.id)
  }
  return ids
}

interface Done {
  pauses: number
  resumes: number
  cancelled: boolean
  pausedUnstarted: boolean
}

async function act({ api }: ApiAlone, id: string, action: 'pause' | 'resume' | 'cancel', done: Done): Promise<void> {
  const { status, body } = await api.post(`/v1/campaigns/${id}/${action}`)
  assert.ok(status === 200 || body.error?.code === 'campaign_state_invalid', JSON.stringify(body))
  if (status !== 200) return
  if (action === 'cancel') done.cancelled = true
  if (action === 'resume') done.resumes++
  if (action === 'pause') done.pauses++
  if (action === 'pause' && body.started_at === null) done.pausedUnstarted = true
}

async function exactlyCounted({ app, pool, tenant }: ApiAlone): Promise<Campaign[]> {
  return await pool.begin('isolation level repeatable read read only', async (tx) => {
    const shown = await app.services.campaigns.list(tx, tenant, undefined, { limit: 100, starting_after: undefined })
    const rows = await tx<{ id: string; status: string; count: number }[]>`
      select r.campaign_id as id, case when m.id is null or r.status = 'cancelled' then r.status when m.status in ('queued', 'sending') then 'pending' else m.status end as status, count(*)::int as count
      from campaign_recipients r join campaigns c on c.id = r.campaign_id and c.snapshot_at is not null left join messages m on m.id = r.message_id
      group by 1, 2`
    const snapshots = await tx<
      { id: string; rows: number }[]
    >`select id, case when snapshot_at is null then 0 else snapshot_rows end as rows from campaigns`
    for (const { id, counters } of shown) {
      const of = (...statuses: string[]) =>
        rows.reduce((sum, row) => (row.id === id && statuses.includes(row.status) ? sum + row.count : sum), 0)
      const { skip_reasons: _, total, ...counted } = counters
      const each = { queued: of('pending'), failed: of('failed'), skipped: of('skipped'), cancelled: of('cancelled') }
      assert.deepEqual(counted, {
        ...each,
        sent: of('sent', 'delivered', 'read'),
        delivered: of('delivered', 'read'),
        read: of('read'),
      })
      assert.equal(total, counted.queued + counted.sent + counted.failed + counted.skipped + counted.cancelled)
      assert.equal(total, snapshots.find((row) => row.id === id)!.rows)
    }
    return shown
  })
}

const wronged = (pool: Pool) => pool`
  select r.campaign_id, r.n, r.status, r.message_id, m.ids
  from campaign_recipients r
  left join (select submission_key, array_agg(id) as ids, min(status) as status, min("to") as "to", min(content #>> '{text,body}') as body from messages where origin_type = 'campaign' group by 1) m
    on m.submission_key = r.campaign_id || '/' || r.n
  where not case
    when r.status in ('sent', 'delivered', 'read') then m.ids = array[r.message_id] and m."to" = r."to" and m.body = 'You are number ' || (r.n - 1) || '.'
    when r.status = 'failed' then coalesce(m.ids = array[r.message_id], r.message_id is null) and r.error is not null
    when r.status = 'skipped' then r.skip_reason is not null and m.ids is null and r.message_id is null
    else r.status = 'cancelled' and (r.message_id is null or m.status = 'failed') and m.ids is not distinct from case when r.message_id is not null then array[r.message_id] end end
  limit 10`

const eventsOf = async (pool: Pool, id: string) => [
  ...(await pool`select type, count(*)::int as times from events where object_id = ${id} group by type order by type`),
]

const breaches = ({ app, pool }: ApiAlone) =>
  pool.begin('isolation level repeatable read read only', async (tx) =>
    (await Promise.all(app.invariants.map(async ({ breaches: find }) => await find(tx)))).flat(),
  )
