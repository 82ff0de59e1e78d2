/** Bench `automation-runs`: a hundred thousand runs due at once, and the latency of requests meanwhile. */
import { setTimeout as delay } from 'node:timers/promises'
import { startDriver, type Driver } from './drive.ts'
import { compared, median, single, type BenchOptions, type Figure, type Measurement } from './figures.ts'
import type { LoadReport } from './load.ts'
import { call, startService, type Service } from './service.ts'

const runsAll = 100_000
const runsQuick = 5000
const sourcesCount = 10
/** Per second: low enough that requests do not wait for each other. */
const requestRate = 100
/** Few enough that none is idle until the service closes it. */
const connections = 8
const drainedWithinMs = 900_000
const dueInMs = 15_000
const pollMs = 250

export const automationRuns: Measurement = {
  name: 'automation-runs',
  title: 'Runs of automations that are due at once, and requests beside them',
  async run(options) {
    using driver = startDriver()
    await using service = await startService()
    return await measure(options, driver, service)
  },
}

async function measure(
  { quick, say }: BenchOptions,
  driver: Driver,
  service: Service,
): Promise<{ figures: Figure[]; notes: string[] }> {
  const count = quick ? runsQuick : runsAll
  // the figure is the slowest hundredth of the requests
  const seconds = quick ? 10 : 30
  const requests = (load: { seconds: number; ended?: Promise<unknown> }): Promise<LoadReport> =>
    driver.run(
      {
        host: '127.0.0.1',
        port: service.port,
        connections,
        seconds: load.seconds,
        rate: requestRate,
        keys: service.keys,
        work: { kind: 'send', channel: service.channel, keyed: false },
      },
      load.ended,
    )
  say(`automation-runs: writing ${count} runs`)
  await makeRuns(service, count)
  await requests({ seconds: 3 })
  const alone = [await requests({ seconds })]
  const due_ms = await makeDue(service)
  say('automation-runs: requests beside runs')
  await delay(due_ms - Date.now())
  const drained = drain(service, due_ms)
  const beside = await requests({ seconds: (2 * drainedWithinMs) / 1000, ended: drained })
  const took_ms = await drained
  await verify(service, count)
  await settled(service)
  alone.push(await requests({ seconds }))
  const p = (field: 'p50_ms' | 'p99_ms' | 'max_ms') => ({
    name: 'alone',
    value: median(alone.map((report) => report[field])),
  })
  return {
    figures: [
      compared(`p99 answer to requests at ${requestRate}/s, beside runs`, 'ms', beside.p99_ms, p('p99_ms'), {
        most: 1.5,
      }),
      compared('median answer beside runs', 'ms', beside.p50_ms, p('p50_ms')),
      compared('longest answer beside runs', 'ms', beside.max_ms, p('max_ms')),
      single('runs sent beside requests', '/s', count / (took_ms / 1000)),
    ],
    notes: [
      `${count.toLocaleString('en-US')} runs of ${sourcesCount} sources of one account, due at the same moment, sent in ${Math.round(took_ms / 1000)} s. The service, PostgreSQL and the load generator share the cores; the messages go out meanwhile.`,
    ],
  }
}

async function makeRuns({ pool, port, keys, account_id, channel }: Service, count: number): Promise<void> {
  for (let n = 0; n < sourcesCount; n++) {
    const source = await call<{ id: string }>(port, keys[0]!, 'POST', '/v1/integration_sources', {
      platform: 'custom',
      external_id: `shop ${n}`,
    })
    const automation = await call<{ id: string }>(port, keys[0]!, 'POST', '/v1/automations', {
      name: 'Shipped',
      source_id: source.id,
      event_type: 'order.shipped',
      channel_id: channel,
      message: {
        type: 'text',
        text: {
          body: 'Hello {{customer.first_name}}, order {{data.order.number}} is on its way: {{data.order.shipping.tracking_url}}',
        },
      },
    })
    const each = count / sourcesCount
    await pool`
      insert into automation_events (account_id, mode, id, source_id, type, event_id, origin, status, customer, consent, data, occurred_at, created_at)
      select ${account_id}, 'live', ${`aev_${n}_`}::text || i, ${source.id}, 'order.shipped', i::text, 'api', 'accepted', json_build_object('first_name', 'Ada ' || i), '{}',
        json_build_object('order', json_build_object('number', i, 'shipping', json_build_object('tracking_url', 'https://example.com/' || i)), 'raw', json_build_object('text', repeat('x', 2000))),
        now(), now()
      from generate_series(1, ${each}::int) i`
    await pool`
      insert into automation_runs (account_id, mode, id, source_id, automation_id, automation_event_id, customer_keys, "to", address, status, scheduled_for, next_run_at, event_type, channel_type, created_at)
      select ${account_id}, 'live', ${`run_${n}_`}::text || i, ${source.id}, ${automation.id}, ${`aev_${n}_`}::text || i, '{}', t."to", t."to", 'scheduled', now() + interval '1 day',
        now() + interval '1 day', 'order.shipped', 'sms', now()
      from generate_series(1, ${each}::int) i
      cross join lateral (select ${`+4915${n}`}::text || lpad(i::text, 7, '0') as "to") t`
  }
  await pool`vacuum analyze automation_events, automation_runs`
}

/** Makes all of them due now. Resolves to milliseconds since 1970. */
async function makeDue({ pool }: Service): Promise<number> {
  const due_ms = Date.now() + dueInMs
  await pool`update automation_runs set next_run_at = ${new Date(due_ms)}, scheduled_for = ${new Date(due_ms)} where next_run_at is not null`
  await pool`vacuum analyze automation_runs`
  if (Date.now() > due_ms) throw new Error('the machine is too slow: the runs were due before they could be')
  return due_ms
}

/** Resolves to milliseconds. */
async function drain({ pool }: Service, due_ms: number): Promise<number> {
  for (const until = due_ms + drainedWithinMs; ; await delay(pollMs)) {
    const [row] = await pool<
      { waits: boolean }[]
    >`select exists (select from automation_runs where next_run_at is not null) as waits`
    if (row?.waits === false) return Date.now() - due_ms
    if (Date.now() > until) throw new Error(`runs still waited after ${drainedWithinMs / 1000} s`)
  }
}

async function verify({ pool }: Service, count: number): Promise<void> {
  const [row] = await pool<{ sent: number; messages: number }[]>`
    select (select count(*) from automation_runs r join messages m on m.id = r.message_id and m.submission_key = r.id where r.status = 'sent')::int as sent,
      (select count(*) from messages where origin_type = 'automation')::int as messages`
  if (row!.sent !== count || row!.messages !== count)
    throw new Error(`of ${count} runs ${row!.sent} were sent, with ${row!.messages} messages`)
}

/** Resolves once the messages are processed, which would slow the next round. */
async function settled({ pool }: Service): Promise<void> {
  for (const until = Date.now() + drainedWithinMs; Date.now() < until; await delay(pollMs)) {
    const [row] = await pool<{ waits: boolean }[]>`select exists (select from dispatch_jobs) as waits`
    if (row?.waits === false) break
  }
  await delay(3000)
}
