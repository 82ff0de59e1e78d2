/** Crash test: workers are killed while sources are disabled and recipients opt out (behaviour: integrations 6.3, 6.6). */
import assert from 'node:assert/strict'
import test from 'node:test'
import { systemClock } from '../../src/lib/clock.ts'
import { startApiAlone, type ApiAlone } from '../support/api-alone.ts'
import { automationOf, happened, sourceOf, type Reporter } from '../support/automations.ts'
import { seeded, type Random } from '../support/random.ts'
import { workerProcesses } from '../support/worker-processes.ts'
import { effort, seedsOf } from '../support/effort.ts'

const seed = seedsOf(1, '1')[0]!
const sources = 6
const runsEach = effort(70, 400)
const workers = 3
const price = 7500
const credit = 2 * sources * runsEach * price
const dueWithinMs = effort(3_000, 10_000)
const clock = systemClock()

const numberOf = (source: number, n: number): string => `+1999555${String(1000 + source * runsEach + n)}`

test('despite kills, disabled sources and opt-outs, each run has one message or a reason, and none is accepted after a stop was answered', async (t) => {
  const service = await startApiAlone(t, { POSTHORN_SIMULATOR: 'true' }, credit)
  const random = seeded(seed)
  const ids = await makeRuns(service, random)
  const crowd = await workerProcesses(t, service, workers)

  const calmAt = clock.now() + 1.5 * dueWithinMs
  for (let round = 0; ; round++) {
    await clock.sleep(random.below(200))
    const left = await waiting(service)
    if (round % 25 === 0) t.diagnostic(`${left} of ${sources * runsEach} wait`)
    if (left === 0) break
    const chance = clock.now() < calmAt ? random.next() : 0.15
    if (chance < 0.12) await crowd.killOne(random.below(workers))
    else if (chance < 0.4)
      await service.pool`update automation_runs set next_run_at = least(next_run_at, ${new Date(clock.now())}) where scheduled_for <= ${new Date(clock.now())} and next_run_at is not null`
    else if (chance < 0.43) await stopped(service, ids[random.below(sources)]!, random.pick(['source', 'automation']))
    else if (chance < 0.65)
      await service.api.post('/v1/contacts', {
        phone: numberOf(random.below(sources), random.below(runsEach)),
        consent: { sms: { status: 'opted_out' } },
      })
  }
  assert.ok((await crowd.stop()).every((code) => code === 0 || code === null))

  const outcomes = await service.pool<{ outcome: string; count: number }[]>`
      select status || coalesce(' ' || reason, '') as outcome, count(*)::int as count from automation_runs group by 1 order by 1`
  t.diagnostic(
    `${crowd.kills()} kills, seed ${seed}: ${outcomes.map(({ outcome, count }) => `${count} ${outcome}`).join(', ')}`,
  )
  assert.deepEqual([...(await wronged(service))], [])
  const sent = outcomes.find(({ outcome }) => outcome === 'sent')?.count ?? 0
  assert.ok(sent > 0)
  const allowed = ['sent', 'skipped unsubscribed', 'cancelled source_disabled', 'cancelled automation_paused']
  assert.deepEqual(
    outcomes.filter(({ outcome }) => !allowed.includes(outcome)),
    [],
  )
  // an opt-out between acceptance and sending refunds the message
  const [refunded] = await service.pool<
    { count: number }[]
  >`select count(*)::int as count from messages where refunded and error ->> 'code' = 'recipient_blocked'`
  const { body: balance } = await service.api.get('/v1/balance')
  assert.equal(balance.wallet_micros, credit - (sent - refunded!.count) * price)
  assert.deepEqual(await breaches(service), [])
})

interface Made {
  readonly source: string
  readonly automation: string
}

async function makeRuns({ app: { platform }, api, tenant }: ApiAlone, random: Random): Promise<Made[]> {
  const channel = {
    type: 'sms',
    provider: 'simulator',
    name: 'Shop',
    identifier: '+4915100000001',
    credentials: {},
    settings: { max_messages_per_second: 1000 },
  }
  const { id: channel_id } = (await api.post('/v1/channels', channel)).body
  const reporter: Reporter = { id: tenant.account_id, mode: tenant.mode, api }
  const made: Made[] = []
  for (let source = 0; source < sources; source++) {
    const source_id = await sourceOf(reporter, `shop ${source}`)
    const automation = await automationOf(reporter, source_id, {
      channel_id,
      message: { type: 'text', text: { body: 'You are {{data.order.number}}.' } },
    })
    const events = Array.from({ length: runsEach }, (_, n) => ({
      to: numberOf(source, n),
      data: { order: { number: `${source}/${n}` } },
      delay_ms: 2000 + random.below(dueWithinMs),
    }))
    await happened(platform, reporter, automation, events)
    made.push({ source: source_id, automation: automation.id })
  }
  return made
}

const waiting = async ({ pool }: ApiAlone): Promise<number> =>
  (await pool<{ count: number }[]>`select count(*)::int as count from automation_runs where status = 'scheduled'`)[0]!
    .count

/** Disables a source or pauses its automation, then enables it. In between no message may be accepted. */
async function stopped(
  { api, pool }: ApiAlone,
  { source, automation }: Made,
  what: 'source' | 'automation',
): Promise<void> {
  const accepted = async () =>
    (await pool<{ count: number }[]>`select count(*)::int as count from messages where origin_id = ${automation}`)[0]!
      .count
  const path = what === 'source' ? `/v1/integration_sources/${source}` : `/v1/automations/${automation}`
  const answer = await api.patch(path, { status: what === 'source' ? 'disabled' : 'paused' })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  const before = await accepted()
  await clock.sleep(100)
  assert.equal(await accepted(), before)
  assert.equal((await api.patch(path, { status: 'active' })).status, 200)
}

/** Runs without exactly one message or a reason. */
const wronged = ({ pool }: ApiAlone) => pool`
  select r.id, r.status, r.reason, r.message_id, m.ids
  from automation_runs r join automation_events e on e.id = r.automation_event_id
  left join (select submission_key, array_agg(id) as ids, min("to") as "to", min(content #>> '{text,body}') as body from messages where origin_type = 'automation' group by 1) m on m.submission_key = r.id
  where not case
    when r.status = 'sent' then m.ids = array[r.message_id] and m."to" = r."to" and m.body = 'You are ' || (e.data #>> '{order,number}') || '.' and r.reason is null
    else r.status <> 'scheduled' and r.reason is not null and m.ids is null and r.message_id is null end
  limit 10`

const breaches = ({ app, pool }: ApiAlone) =>
  pool.begin('isolation level repeatable read read only', async (tx) =>
    (await Promise.all(app.invariants.map(async ({ breaches: find }) => await find(tx)))).flat(),
  )
