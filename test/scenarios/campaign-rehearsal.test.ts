/** Rehearsals predict a launch and change nothing. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { request } from 'undici'
import { storedRulesOf } from '../../src/modules/contacts/segments/rules-cache.ts'
import type { Api } from '../support/api.ts'
import { holdOpen } from '../support/open-transactions.ts'
import { until } from '../support/waiting.ts'
import { outcomesOf, passFor } from '../support/campaigns.ts'
import { approvedTemplate, whatsappWorld } from '../support/whatsapp-world.ts'
import { startWorld, type World } from '../support/world.ts'

const text = (body: string) => ({ type: 'text', text: { body } })
const ada = { to: '+4915112345678', first_name: 'Ada' }
const adhoc = (...recipients: object[]) => ({ type: 'adhoc', recipients })
const spring = {
  name: 'Spring sale',
  channel: 'ch_test_sms',
  audience: adhoc(ada),
  message: text('Hello {{first_name}}'),
  consent_declared: true,
}

const draft = async (api: Api, body: object): Promise<string> => {
  const made = await api.post('/v1/campaigns', body)
  assert.equal(made.status, 201, JSON.stringify(made.body))
  return made.body.id
}

const rehearsed = async (api: Api, id: string) => (await api.post(`/v1/campaigns/${id}/rehearse`)).body

/** In micro-USD. */
async function liveAccount(
  world: World,
  { credit_micros, price_micros = 7500 }: { credit_micros?: number; price_micros?: number } = {},
) {
  const account = await world.account({ mode: 'live', ...(credit_micros === undefined ? {} : { credit_micros }) })
  await world.services.billing.prices.setPrice(world.pool, account.id, 'sms', price_micros)
  const channel = (
    await account.api.post('/v1/channels', {
      type: 'sms',
      provider: 'simulator',
      name: 'S',
      identifier: '+15005550199',
      credentials: {},
    })
  ).body.id
  return { ...account, channel: channel as string }
}

test('a rehearsal classifies an ad-hoc audience like the snapshot, with samples, and changes nothing', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  await api.post('/v1/contacts', { phone: '+4915112345670', consent: { sms: 'opted_out' } })
  const recipients = [
    ada,
    { to: '+4915112345679' },
    ada,
    { to: 'nobody' },
    { to: '+4915112345670' },
    { to: '+15005550009' },
    { to: '+4915112345671' },
    { to: '+4915112345672' },
  ]
  const id = await draft(api, { ...spring, audience: adhoc(...recipients), merge_fallbacks: { first_name: 'friend' } })

  const answer = await api.post(`/v1/campaigns/${id}/rehearse`)
  const csv = await api.post(`/v1/campaigns/${id}/rehearse`, undefined, { accept: 'text/csv' })

  assert.equal(answer.status, 200)
  const { starts_at, ends_at, checks, ...rest } = answer.body
  assert.match(
    checks.find(({ code }: { code: string }) => code === 'campaign_limit_exceeded').message,
    /^Recipients: 8 of the \d+ that a campaign may have\.$/,
  )
  assert.deepEqual(rest, {
    object: 'campaign_rehearsal',
    campaign_id: id,
    recipients_count: 8,
    would_send: 4,
    would_skip: { duplicate: 1, invalid_identifier: 1, unsubscribed: 1, upstream_rejected: 1 },
    cost: { package_credits: 0, wallet_micros: 0 },
    samples: [
      { to: '+4915112345678', message: text('Hello Ada') },
      { to: '+4915112345679', message: text('Hello friend') },
      { to: '+4915112345671', message: text('Hello friend') },
    ],
  })
  assert.deepEqual([Date.parse(starts_at) - world.clock.now(), Date.parse(ends_at) - world.clock.now()], [0, 150])
  assert.deepEqual(
    checks.map(({ code, ok }: { code: string; ok: boolean }) => [code, ok]),
    [
      ['campaign_state_invalid', true],
      ['consent_required', true],
      ['channel_not_connected', true],
      ['template_not_approved', true],
      ['campaign_limit_exceeded', true],
      ['insufficient_balance', true],
    ],
  )
  assert.ok(checks.every(({ message }: { message: string }) => message !== ''))
  assert.deepEqual(csv.body.split('\r\n'), [
    'contact_id,to,name,outcome,reason',
    ',+4915112345678,Ada,send,',
    ',+4915112345679,,send,',
    ',+4915112345678,Ada,skip,duplicate',
    ',nobody,,skip,invalid_identifier',
    csv.body.split('\r\n')[5],
    ',+15005550009,,skip,upstream_rejected',
    ',+4915112345671,,send,',
    ',+4915112345672,,send,',
    '',
  ])
  assert.match(csv.body.split('\r\n')[5], /^ct_\w+,\+4915112345670,,skip,unsubscribed$/)
  assert.deepEqual(
    [(await api.get(`/v1/campaigns/${id}`)).body.status, (await api.get('/v1/messages')).body.data],
    ['draft', []],
  )
})

test('a rehearsal predicts refusals of the sandbox, and shows a sample that waits for funds or the provider', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const id = await draft(api, {
    ...spring,
    audience: adhoc({ to: '+15005550013' }, { to: '+15005550011' }, { to: '+15005550012' }, ada),
  })

  const reported = await rehearsed(api, id)
  await api.post(`/v1/campaigns/${id}/launch`)
  await passFor(world, 1000)

  assert.deepEqual([reported.would_send, reported.would_skip], [3, { channel_not_connected: 1 }])
  assert.deepEqual(
    reported.samples.map(({ to }: { to: string }) => to),
    ['+15005550011', '+15005550012', ada.to],
  )
  assert.deepEqual((await outcomesOf(api, id)).slice(0, 3), ['failed channel_not_connected', 'pending', 'pending'])
})

test('a rehearsal reports every check that would refuse the launch, with advice', async (t) => {
  const world = await startWorld(t, { settings: { campaign_recipient_limit: 1 } })
  const account = await liveAccount(world)
  const { api } = account
  const id = await draft(api, {
    ...spring,
    channel: account.channel,
    consent_declared: false,
    audience: adhoc(ada, { to: '+4915112345679' }),
  })
  await api.patch(`/v1/channels/${account.channel}`, { status: 'disabled' })

  const { checks, cost, would_send } = await rehearsed(api, id)

  assert.deepEqual([would_send, cost], [2, { package_credits: 0, wallet_micros: 15_000 }])
  const failed = checks.filter(({ ok }: { ok: boolean }) => !ok)
  assert.deepEqual(
    failed.map(({ code }: { code: string }) => code),
    ['consent_required', 'channel_not_connected', 'campaign_limit_exceeded', 'insufficient_balance'],
  )
  for (const [i, words] of [
    /consent_declared/,
    /disabled/,
    /more than 1 recipients.*Split/,
    /2 recipients take 0 package credits and 15000 micro-USD; the wallet lacks 15000. Top up/,
  ].entries())
    assert.match(failed[i].message, words)
  const launched = await api.post(`/v1/campaigns/${id}/launch`, {})
  assert.equal(launched.body.error.code, 'consent_required')
})

test('times after the year 9999 are null', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const schedule = { send_at: '9999-12-31T23:59:59Z', timezone: 'UTC', send_window: { start: '08:00', end: '09:00' } }

  const { starts_at, ends_at, would_send } = await rehearsed(api, await draft(api, { ...spring, schedule }))

  assert.deepEqual([starts_at, ends_at, would_send], [null, null, 1])
})

test('a rehearsal reports a segment that is too large or too expensive, and the launch is refused', async (t) => {
  const world = await startWorld(t, { settings: { campaign_recipient_limit: 2 } })
  const account = await liveAccount(world, { credit_micros: 8000 })
  const { api } = account
  for (const last of [1, 2]) await api.post('/v1/contacts', { phone: `+4915112345${last}00`, tags: ['a'] })
  const third: string = (await api.post('/v1/contacts', { phone: '+4915112345300', tags: ['a'] })).body.id
  const rules = { match: 'all', conditions: [{ field: 'tags', operator: 'contains_any', value: ['a'] }] }
  const segment_id = (await api.post('/v1/segments', { name: 'S', rules })).body.id
  const id = await draft(api, { ...spring, channel: account.channel, audience: { type: 'segment', segment_id } })

  const reported = await rehearsed(api, id)
  const large = await api.post(`/v1/campaigns/${id}/launch`)
  await api.delete(`/v1/contacts/${third}`)
  const unpaid = await api.post(`/v1/campaigns/${id}/launch`)
  const { cost } = (await api.get(`/v1/campaigns/${id}`)).body
  await api.delete(`/v1/segments/${segment_id}`)
  const gone = await api.post(`/v1/campaigns/${id}/rehearse`)

  assert.deepEqual(
    [reported.recipients_count, reported.would_send, reported.cost],
    [3, 3, { package_credits: 0, wallet_micros: 22_500 }],
  )
  assert.deepEqual(
    reported.checks.filter(({ ok }: { ok: boolean }) => !ok).map(({ code }: { code: string }) => code),
    ['campaign_limit_exceeded', 'insufficient_balance'],
  )
  assert.deepEqual([large.status, large.body.error.code], [400, 'campaign_limit_exceeded'])
  assert.deepEqual(
    [unpaid.status, unpaid.body.error.code, cost.estimated_wallet_micros],
    [402, 'insufficient_balance', null],
  )
  assert.match(
    unpaid.body.error.message,
    /2 recipients take 0 package credits and 15000 micro-USD; the wallet lacks 7000/,
  )
  assert.deepEqual(
    [gone.status, gone.body.error.code, gone.body.error.param],
    [404, 'resource_missing', 'audience.segment_id'],
  )
})

test('a rehearsal uses credits first, and counts each contact', async (t) => {
  const world = await startWorld(t)
  const account = await liveAccount(world, { credit_micros: 1_000_000, price_micros: 7501 })
  const { api } = account
  await world.services.billing.grantPackage(world.pool, {
    account_id: account.id,
    name: 'P',
    channel_types: ['sms'],
    credits: 2,
    expires_at: null,
  })
  const contacts = [
    { phone: '+4915112345671', first_name: 'Ada', consent: { sms: 'opted_in' } },
    { phone: '+4915112345672', consent: { sms: 'opted_out' } },
    { phone: '+4915112345673', blocked: true },
    { email: 'a@example.com' },
    { phone: '+4915112345674' },
    { phone: '+4915112345675' },
  ]
  for (const contact of contacts) await api.post('/v1/contacts', { ...contact, tags: ['a'] })
  const audience = { type: 'tags', tags: ['a'] }
  const [all, opted, tagged] = [
    await draft(api, { ...spring, channel: account.channel, audience, message: text('Hello') }),
    await draft(api, { ...spring, channel: account.channel, audience, message: text('Hello'), require_opt_in: true }),
    await draft(api, { ...spring, channel: account.channel, audience, message: text('{{first_name}}') }),
  ]

  const reported = [await rehearsed(api, all), await rehearsed(api, opted), await rehearsed(api, tagged)]

  assert.deepEqual(
    reported.map(({ recipients_count, would_send, would_skip, cost }) => ({
      recipients_count,
      would_send,
      would_skip,
      cost,
    })),
    [
      {
        recipients_count: 6,
        would_send: 3,
        would_skip: { no_identifier: 1, unsubscribed: 2 },
        cost: { package_credits: 2, wallet_micros: 7501 },
      },
      {
        recipients_count: 6,
        would_send: 1,
        would_skip: { no_identifier: 1, not_opted_in: 2, unsubscribed: 2 },
        cost: { package_credits: 1, wallet_micros: 0 },
      },
      {
        recipients_count: 6,
        would_send: 1,
        would_skip: { no_identifier: 1, parameter_invalid: 2, unsubscribed: 2 },
        cost: { package_credits: 1, wallet_micros: 0 },
      },
    ],
  )
})

test('a sending campaign is rehearsed for waiting recipients only, and a finished one not at all', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const recipients = Array.from({ length: 30 }, (_, i) => ({ to: `+49151123456${String(i).padStart(2, '0')}` }))
  const id = await draft(api, {
    ...spring,
    message: text('Hello'),
    audience: adhoc(...recipients),
    throttle_per_second: 10,
  })
  const send_at = new Date(world.clock.now() + 3600_000).toISOString()
  await api.patch(`/v1/campaigns/${id}`, { schedule: { send_at } })
  await api.post(`/v1/campaigns/${id}/launch`, {})
  const scheduled = await rehearsed(api, id)
  await world.clock.advance(3600_000)
  await world.settle('campaign-snapshots')
  for (let looks = 0; looks < 10; looks++) {
    await world.tick('campaigns', 'dispatch', 'callbacks', 'project-campaigns')
    await world.clock.advance(100)
  }
  await api.post(`/v1/campaigns/${id}/pause`)
  await world.settle('dispatch', 'callbacks', 'project-campaigns')
  const { queued } = (await api.get(`/v1/campaigns/${id}`)).body.counters
  await api.post('/v1/contacts', { phone: recipients[29]!.to, blocked: true })

  const paused = await rehearsed(api, id)
  await api.post(`/v1/campaigns/${id}/cancel`)
  const ended = await api.post(`/v1/campaigns/${id}/rehearse`)

  assert.deepEqual(
    [scheduled.recipients_count, scheduled.starts_at, scheduled.checks[0].code],
    [30, send_at, 'consent_required'],
  )
  assert.ok(queued > 10 && queued < 25, String(queued))
  assert.deepEqual([paused.recipients_count, paused.would_skip], [queued, { unsubscribed: 1 }])
  assert.equal(Date.parse(paused.ends_at) - Date.parse(paused.starts_at), (paused.would_send - 1) * 100)
  assert.deepEqual([ended.status, ended.body.error.code], [409, 'campaign_state_invalid'])
})

test('a campaign whose snapshot completes during its rehearsal is rehearsed for waiting recipients', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  for (const n of [1, 2])
    await api.post('/v1/contacts', { phone: `+491511234567${n}`, first_name: 'Ada', tags: ['vip'] })
  const rules = { match: 'all', conditions: [{ field: 'tags', operator: 'contains', value: 'vip' }] }
  const segment_id = (await api.post('/v1/segments', { name: 'S', rules })).body.id
  const id = await draft(api, { ...spring, audience: { type: 'segment', segment_id }, launch: true })
  await world.tick('campaign-snapshots')
  const statusBefore = (await api.get(`/v1/campaigns/${id}`)).body.status
  const { channels } = world.services
  const find = channels.find
  channels.find = async (...asked) => {
    channels.find = find
    await world.settle('campaign-snapshots')
    // as if another process had taken the snapshot: the cache lacks its rules
    await storedRulesOf('others', async () => JSON.stringify(rules) + ' '.repeat(9_000_000))
    return await find(...asked)
  }

  const reported = await api.post(`/v1/campaigns/${id}/rehearse`)

  assert.deepEqual([statusBefore, (await api.get(`/v1/campaigns/${id}`)).body.status], ['queued', 'sending'])
  assert.deepEqual(
    [reported.status, reported.body.recipients_count, reported.body.would_send, reported.body.samples?.length],
    [200, 2, 2, 2],
    JSON.stringify(reported.body),
  )
})

const offer = approvedTemplate('offer', { id: '1', category: 'MARKETING' })

test('a rehearsal on a live WhatsApp channel respects the limit of recipients in 24 hours', async (t) => {
  const { graph, api, connect } = await whatsappWorld(t)
  graph.templates.push(offer)
  const channel: string = (await connect()).body.id
  const recipients = Array.from({ length: 2001 }, (_, i) => ({ to: `+49151${String(10_000_000 + i)}` }))
  const message = { type: 'template', template: { name: 'offer', language: { code: 'en_US' } } }
  const body = { ...spring, channel, message }
  const [within, beyond] = [
    await draft(api, { ...body, audience: adhoc(...recipients.slice(1), recipients[1]!, { to: 'nobody' }) }),
    await draft(api, { ...body, audience: adhoc(...recipients) }),
  ]

  const reported = [await rehearsed(api, within), await rehearsed(api, beyond)]
  const refused = [
    await api.post(`/v1/campaigns/${beyond}/launch`),
    await api.post('/v1/campaigns', { ...body, audience: adhoc(...recipients), launch: true }),
  ]
  const accepted = await api.post(`/v1/campaigns/${within}/launch`)
  await api.patch(`/v1/channels/${channel}`, { settings: { messaging_limit: 10_000 } })
  const raised = await rehearsed(api, beyond)

  const size = ({ checks }: { checks: { code: string; ok: boolean; message: string }[] }) =>
    checks.find(({ code }) => code === 'campaign_limit_exceeded')!
  assert.deepEqual(
    reported.map((each) => [each.would_send, size(each).ok]),
    [
      [2000, true],
      [2001, false],
    ],
  )
  assert.match(size(reported[1]).message, /2001 recipients.*2000 in 24 hours.*Split/)
  assert.deepEqual(
    refused.map(({ status, body: answer }) => [status, answer.error.code, answer.error.message]),
    Array.from({ length: 2 }, () => [400, 'campaign_limit_exceeded', size(reported[1]).message]),
  )
  assert.deepEqual([accepted.status, size(raised).ok], [200, true])
})

test('large audiences are rehearsed in chunks, with the result of the snapshot', async (t) => {
  const world = await startWorld(t)
  const { id: account, api } = await world.account()
  await world.pool`
    insert into contacts (account_id, mode, id, phone, phone_key, first_name, tags, labels, created_at, updated_at)
    select ${account}, 'test', 'ct_' || lpad(i::text, 26, '0'), '+4915' || (100000000 + i), '+4915' || (100000000 + i), case when i % 2 = 0 then 'Ada' end, tags,
      (select array_agg('t:' || tag order by tag) from unnest(tags) tag), ${world.clock.iso(-1000)}, ${world.clock.iso(-1000)}
    from generate_series(1, 6500) i, lateral (select case when i % 500 = 0 then '{a,b}' when i <= 2500 then '{a}' else '{c}' end::text[] as tags) t`

  for (const [tag, sent, failed] of [
    ['a', 1258, 1250],
    ['b', 13, 0],
  ] as const) {
    const id = await draft(api, { ...spring, audience: { type: 'tags', tags: [tag] } })
    const plain = await draft(api, {
      ...spring,
      audience: { type: 'tags', tags: [tag] },
      message: text('{{first_name}}'),
    })
    const reported = [await rehearsed(api, id), await rehearsed(api, plain)]
    const lines: string[] = (await api.post(`/v1/campaigns/${plain}/rehearse`, undefined, { accept: 'text/csv' })).body
      .split('\r\n')
      .slice(1, -1)
    await api.post(`/v1/campaigns/${id}/launch`)
    await world.settle('campaign-snapshots')
    const { total } = (await api.get(`/v1/campaigns/${id}`)).body.counters

    assert.deepEqual(
      reported.map((each) => [each.recipients_count, each.would_send, each.would_skip]),
      [
        [total, sent + failed, {}],
        [total, sent, failed === 0 ? {} : { parameter_invalid: failed }],
      ],
    )
    assert.deepEqual(
      [lines.length, new Set(lines).size, lines.filter((line) => line.includes(',send,')).length],
      [total, total, sent],
    )
  }
})

test('a rehearsal is replayed under its Idempotency-Key, and stops reading when its client disconnects', async (t) => {
  const world = await startWorld(t)
  const { api, key } = await world.account()
  const id = await draft(api, spring)
  const path = `/v1/campaigns/${id}/rehearse`

  const first = await api.post(path, undefined, { 'idempotency-key': 'k' })
  await world.clock.advance(60_000)
  const again = await api.post(path, undefined, { 'idempotency-key': 'k' })
  const away = new AbortController()
  await holdOpen(world.pool, async (tx) => {
    await tx`lock table suppressions in access exclusive mode`
    const asked = request(`${world.base_url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      signal: away.signal,
    }).catch(() => null)
    await until(
      'the rehearsal to read',
      () => world.platform.reads.use().in_use,
      (count) => count === 1,
    )
    away.abort()
    await asked
    await until(
      'no read to be left',
      () => world.platform.reads.use().in_use,
      (count) => count === 0,
    )
  })

  assert.deepEqual([again.body, again.headers['idempotent-replayed']], [first.body, 'true'])
})
