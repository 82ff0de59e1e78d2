/** Due runs (behaviour: integrations 6.3, 6.4, 6.5, 6.6, 6.7, 6.8, 6.9). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endRuns, listDueSources, postponeRuns, claimDue } from '../../src/modules/automations/runs/due-repository.ts'
import { runsWorker } from '../../src/modules/automations/runs/worker.ts'
import type { MessageService } from '../../src/modules/messages/service.ts'
import type { Api } from '../support/api.ts'
import { automationOf, happened, sourceOf } from '../support/automations.ts'
import { liveSms } from '../support/campaigns.ts'
import { startWorld, type World } from '../support/world.ts'

const to = '+4915112345678'
const worker = 'automation-runs'
const minute = 60_000
const smsChannel = { type: 'sms', provider: 'simulator', name: 'Other', identifier: '+4915100000009', credentials: {} }

const recipients = (count: number) => Array.from({ length: count }, (_, n) => ({ to: `+4915${10_000_000 + n}` }))

const readRun = async (api: Api, id: string | undefined) => (await api.get(`/v1/automation_runs/${id}`)).body
const outcomeOf = async (api: Api, id: string | undefined) => {
  const { status, reason } = await readRun(api, id)
  return [status, reason].filter(Boolean).join(' ')
}

async function start(t: Parameters<typeof startWorld>[0]) {
  const world = await startWorld(t)
  const account = await world.account()
  const source = await sourceOf(account)
  return { world, account, api: account.api, source }
}

async function passFor(world: World, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += minute / 2) {
    await world.clock.advance(minute / 2)
    await world.tick(worker)
  }
}

test('a reported event becomes one message when it is due, not before', async (t) => {
  const { world, account, api, source } = await start(t)
  const automation = await automationOf(account, source, {
    delay_seconds: 60,
    message: { type: 'text', text: { body: 'Thank you for {{data.order.number}}, {{customer.first_name}}.' } },
  })
  const event = {
    source,
    type: 'order.paid',
    event_id: '1',
    customer: { phone: to, first_name: 'Ada' },
    data: { order: { number: 17 } },
  }
  const reported = (await api.post('/v1/automation_events', event)).body
  const [{ id }] = reported.runs

  await world.tick(worker)
  const early = await readRun(api, id)
  await world.clock.advance(minute)
  await world.tick(worker)
  await world.tick(worker)
  const run = await readRun(api, id)
  const { body: message } = await api.get(`/v1/messages/${run.message_id}`)
  const receipt = (await api.get(`/v1/automation_events/${reported.id}`)).body
  const all = await api.get('/v1/messages')

  assert.deepEqual([early.status, early.message_id], ['scheduled', null])
  assert.deepEqual([run.status, run.reason, run.scheduled_for], ['sent', null, world.clock.iso()])
  assert.deepEqual(
    [receipt.status, receipt.runs[0].status, receipt.runs[0].message_id],
    ['accepted', 'sent', run.message_id],
  )
  assert.deepEqual(
    {
      ...message.origin,
      to: message.to,
      body: message.content.text.body,
      priority: message.priority,
      contact_id: message.contact_id,
    },
    {
      type: 'automation',
      id: automation.id,
      to,
      body: 'Thank you for 17, Ada.',
      priority: 'normal',
      contact_id: run.contact_id,
    },
  )
  assert.equal(all.body.data.length, 1)
  await world.invariants()
})

test('tags are filled from event, customer and contact, as plain text', async (t) => {
  const { world, account, api, source } = await start(t)
  const contact = (await api.post('/v1/contacts', { phone: to, first_name: 'Ada', attributes: { city: 'Graz' } })).body
  const body = [
    '{{first_name}} {{last_name}} of {{attributes.city}}, {{customer.first_name}}:',
    '{{data.order.number}}, {{data.order.total}}, {{data.order.items[1].name}}, {{data.order.items.name}}, {{data.order.paid}}, {{data.order.gone}}, {{data.note}}',
  ].join(' ')
  const automation = await automationOf(account, source, {
    message: { type: 'text', text: { body } },
    merge_fallbacks: { 'data.order.gone': 'nothing' },
  })
  const order = { number: 1001, total: '59.90', paid: true, items: [{ name: 'Mug' }, { name: 'Cup' }] }
  const [id] = await happened(world.platform, account, automation, [
    {
      to,
      contact_id: contact.id,
      customer: { first_name: 'Augusta', last_name: 'King' },
      data: { order, note: '{{first_name}} "}, {' },
    },
  ])

  await world.tick(worker)

  const { message_id } = await readRun(api, id)
  const message = (await api.get(`/v1/messages/${message_id}`)).body
  assert.equal(
    message.content.text.body,
    'Ada King of Graz, Augusta: 1001, 59.90, Cup, Mug, Cup, true, nothing, {{first_name}} "}, {',
  )
})

test('a text that is empty after rendering fails only its own run', async (t) => {
  const { world, account, api, source } = await start(t)
  const automation = await automationOf(account, source, { message: { type: 'text', text: { body: '{{data.text}}' } } })
  const ids = await happened(world.platform, account, automation, [
    { to, data: {} },
    { to, data: { text: {} } },
    { to, data: { text: 'Hello' } },
  ])

  await world.tick(worker)

  assert.deepEqual(await Promise.all(ids.map((id) => outcomeOf(api, id))), [
    'failed parameter_invalid',
    'failed parameter_invalid',
    'sent',
  ])
})

test('a run without an address, or with one that may not be written to, is skipped', async (t) => {
  const { world, account, api, source } = await start(t)
  const automation = await automationOf(account, source)
  await api.post('/v1/contacts', { phone: to, consent: { sms: { status: 'opted_out' } } })
  const ids = await happened(world.platform, account, automation, [{ to: null }, { to }])

  await world.tick(worker)

  assert.deepEqual(await Promise.all(ids.map((id) => outcomeOf(api, id))), [
    'skipped no_identifier',
    'skipped unsubscribed',
  ])
})

test('marketing is not sent to contacts who stopped marketing, other messages are', async (t) => {
  const { world, account, api, source } = await start(t)
  const made = await api.post('/v1/contacts', {
    phone: to,
    consent: { whatsapp: { status: 'opted_in', marketing: 'opted_out' } },
  })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const options = { channel_id: 'ch_test_whatsapp' }
  const marketing = await automationOf(account, source, { ...options, category: 'marketing' })
  const transactional = await automationOf(account, source, options)
  const [first] = await happened(world.platform, account, marketing, [{ to }])
  const [second] = await happened(world.platform, account, transactional, [{ to }])

  await world.tick(worker)

  assert.deepEqual([await outcomeOf(api, first), await outcomeOf(api, second)], ['skipped unsubscribed', 'sent'])
})

test("STOP skips the customer's waiting runs on that channel type, and no others", async (t) => {
  const { world, account, api, source } = await start(t)
  const sms = await automationOf(account, source)
  const whatsapp = await automationOf(account, source, { channel_id: 'ch_test_whatsapp' })
  const [mine, others] = await happened(world.platform, account, sms, [
    { to, delay_ms: minute },
    { to: '+4915199999999', delay_ms: minute },
  ])
  const [elsewhere] = await happened(world.platform, account, whatsapp, [{ to, delay_ms: minute }])

  const stopped = await api.post('/v1/test/inbound_messages', {
    channel: 'ch_test_sms',
    from: to,
    type: 'text',
    text: { body: 'STOP' },
  })

  assert.ok(stopped.status < 300, JSON.stringify(stopped.body))
  assert.deepEqual(
    [await outcomeOf(api, mine), await outcomeOf(api, others), await outcomeOf(api, elsewhere)],
    ['skipped unsubscribed', 'scheduled', 'scheduled'],
  )
})

test('a contact that opts out or is blocked after a change of its number gets no waiting message at the old number', async (t) => {
  const { world, account, api, source } = await start(t)
  const automation = await automationOf(account, source)
  const contacts: string[] = []
  for (const phone of ['+4915112345670', '+4915112345671', '+4915112345672'])
    contacts.push((await api.post('/v1/contacts', { phone })).body.id)
  const ids = await happened(
    world.platform,
    account,
    automation,
    contacts.map((contact_id, n) => ({ to: `+491511234567${n}`, contact_id, delay_ms: minute })),
  )
  for (const [n, contact] of contacts.entries())
    await api.patch(`/v1/contacts/${contact}`, { phone: `+491520000000${n}` })

  await api.post('/v1/test/inbound_messages', {
    channel: 'ch_test_sms',
    from: '+4915200000000',
    type: 'text',
    text: { body: 'STOP' },
  })
  const stopped = await outcomeOf(api, ids[0])
  await api.patch(`/v1/contacts/${contacts[1]}`, { blocked: true })
  await passFor(world, 2 * minute)

  assert.equal(stopped, 'skipped unsubscribed')
  assert.deepEqual(await Promise.all(ids.map((id) => outcomeOf(api, id))), [
    'skipped unsubscribed',
    'skipped unsubscribed',
    'sent',
  ])
})

test('deleting a contact skips its waiting runs', async (t) => {
  const { world, account, api, source } = await start(t)
  const automation = await automationOf(account, source)
  const contact = (await api.post('/v1/contacts', { phone: to })).body
  const [mine, others] = await happened(world.platform, account, automation, [
    { to, contact_id: contact.id, delay_ms: minute },
    { to: '+4915199999999', delay_ms: minute },
  ])

  await api.delete(`/v1/contacts/${contact.id}`)

  assert.deepEqual([await outcomeOf(api, mine), await outcomeOf(api, others)], ['skipped contact_deleted', 'scheduled'])
})

test('waiting runs are cancelled with their source, account or channel', async (t) => {
  const { world, account, api } = await liveSms(t)
  const channelsOf = { channel_id: (await api.get('/v1/channels')).body.data[0].id as string }
  const runOf = async (external_id: string) => {
    const source = await sourceOf(account, external_id)
    const [id] = await happened(world.platform, account, await automationOf(account, source, channelsOf), [
      { to, delay_ms: minute },
    ])
    return { source, id }
  }
  const [disabled, deleted, left] = [await runOf('a'), await runOf('b'), await runOf('c')]
  const other = await liveSms(t)
  const suspended = await sourceOf(other.account)
  const [cancelled] = await happened(
    other.world.platform,
    other.account,
    await automationOf(other.account, suspended, { channel_id: other.channel }),
    [{ to, delay_ms: minute }],
  )

  await api.patch(`/v1/integration_sources/${disabled.source}`, { status: 'disabled' })
  await api.delete(`/v1/integration_sources/${deleted.source}`)
  const before = await outcomeOf(api, left.id)
  const gone = await api.delete(`/v1/channels/${channelsOf.channel_id}`)
  assert.equal(gone.status, 200, JSON.stringify(gone.body))
  await other.world.services.accounts.suspend(other.account.id)

  assert.deepEqual(
    [await outcomeOf(api, disabled.id), await outcomeOf(api, deleted.id), before, await outcomeOf(api, left.id)],
    ['cancelled source_disabled', 'cancelled source_deleted', 'scheduled', 'cancelled channel_deleted'],
  )
  await other.world.services.accounts.reinstate(other.account.id)
  assert.equal(await outcomeOf(other.api, cancelled), 'cancelled account_suspended')
  await world.invariants()
})

test('a run that missed the pause of its automation is cancelled when it is due', async (t) => {
  const { world, account, api, source } = await start(t)
  const automation = await automationOf(account, source)
  const [id] = await happened(world.platform, account, automation, [{ to }])
  await world.pool`update automations set status = 'paused' where id = ${automation.id}`

  await world.tick(worker)

  assert.equal(await outcomeOf(api, id), 'cancelled automation_paused')
})

test('a run made for another event type or channel type than its automation now has is cancelled', async (t) => {
  const { world, account, api, source } = await start(t)
  const [event, channel] = [await automationOf(account, source), await automationOf(account, source)]
  const [first] = await happened(world.platform, account, event, [{ to }])
  const [second] = await happened(world.platform, account, channel, [{ to }])
  // a process died between a change and its consequences
  await world.pool`update automations set event_type = 'order.shipped' where id = ${event.id}`
  await world.pool`update automations set channel_type = 'whatsapp', channel_id = 'ch_test_whatsapp' where id = ${channel.id}`

  await world.tick(worker)

  assert.deepEqual(
    [await outcomeOf(api, first), await outcomeOf(api, second)],
    ['cancelled automation_changed', 'cancelled automation_changed'],
  )
  assert.deepEqual((await api.get('/v1/messages')).body.data, [])
})

test('deleting a channel or suspending an account cancels all waiting runs, however many', async (t) => {
  const { world, account, api, channel } = await liveSms(t)
  const source = await sourceOf(account)
  const automation = await automationOf(account, source, { channel_id: channel })
  const many = recipients(1500)
  const counts = async () => [
    ...(await world.pool`select concat_ws(' ', status, reason) as outcome, count(*)::int as count from automation_runs group by 1 order by 1`),
  ]
  await happened(world.platform, account, automation, many)
  await api.delete(`/v1/channels/${channel}`)
  const deleted = await counts()
  await world.periodicJobs()
  const afterwards = await counts()
  const paused = (await api.get(`/v1/automations/${automation.id}`)).body.status

  await world.pool`delete from automation_runs`
  const other = await automationOf(account, source, {
    channel_id: (await api.post('/v1/channels', smsChannel)).body.id,
  })
  await happened(world.platform, account, other, many)
  await world.services.accounts.suspend(account.id)
  const suspended = await counts()
  await world.periodicJobs()

  assert.equal(paused, 'paused')
  assert.deepEqual(deleted, [
    { outcome: 'cancelled channel_deleted', count: 1000 },
    { outcome: 'scheduled', count: 500 },
  ])
  assert.deepEqual(afterwards, [
    { outcome: 'cancelled automation_paused', count: 500 },
    { outcome: 'cancelled channel_deleted', count: 1000 },
  ])
  assert.deepEqual(suspended, [
    { outcome: 'cancelled account_suspended', count: 1000 },
    { outcome: 'scheduled', count: 500 },
  ])
  assert.deepEqual(await counts(), [{ outcome: 'cancelled account_suspended', count: 1500 }])
  await world.invariants()
})

test('after a channel was deleted, its runs are not sent on a new channel of the automation', async (t) => {
  const { world, account, api, channel } = await liveSms(t)
  const automation = await automationOf(account, await sourceOf(account), { channel_id: channel })
  await happened(world.platform, account, automation, recipients(1010))

  await api.delete(`/v1/channels/${channel}`)
  const other = await api.post('/v1/channels', smsChannel)
  const active = await api.patch(`/v1/automations/${automation.id}`, { channel_id: other.body.id, status: 'active' })
  await passFor(world, minute)

  assert.deepEqual([active.status, active.body.status], [200, 'active'])
  assert.deepEqual((await api.get('/v1/messages')).body.data, [])
  assert.equal((await api.get('/v1/automation_runs?status=scheduled')).body.data.length, 0)
  await world.invariants()
})

test('a run created while its account is being suspended is cancelled when it is due', async (t) => {
  const { world, account, api, source } = await start(t)
  const automation = await automationOf(account, source)
  await world.services.accounts.suspend(account.id)
  const [id] = await happened(world.platform, account, automation, [{ to }])

  await world.tick(worker)

  await world.services.accounts.reinstate(account.id)
  assert.equal(await outcomeOf(api, id), 'cancelled account_suspended')
})

test('runs from before a suspension are not sent after reinstatement, later ones are', async (t) => {
  const { world, account, api, channel } = await liveSms(t)
  const automation = await automationOf(account, await sourceOf(account), { channel_id: channel })
  await happened(world.platform, account, automation, recipients(1010))

  await world.services.accounts.suspend(account.id)
  // reported before, accepted during the suspension
  const [late] = await happened(world.platform, account, automation, [{ to }])
  await world.services.accounts.reinstate(account.id)
  await world.clock.advance(1)
  const [next] = await happened(world.platform, account, automation, [{ to }])
  await passFor(world, minute)

  const counts =
    await world.pool`select concat_ws(' ', status, reason) as outcome, count(*)::int as count from automation_runs group by 1 order by 1`
  assert.deepEqual(
    [...counts],
    [
      { outcome: 'cancelled account_suspended', count: 1011 },
      { outcome: 'sent', count: 1 },
    ],
  )
  assert.deepEqual([await outcomeOf(api, late), await outcomeOf(api, next)], ['cancelled account_suspended', 'sent'])
  await world.invariants()
})

test('a run decided before its account was suspended and reinstated sends no message', async (t) => {
  const { world, account, api, source } = await start(t)
  const automation = await automationOf(account, source)
  const [id] = await happened(world.platform, account, automation, [{ to }])
  const { accounts, channels, contacts, messages } = world.services
  const interrupted: MessageService = {
    ...messages,
    async submit(submission) {
      // the suspension did not cancel it, as with more than a thousand runs
      await world.pool`update accounts set suspended_at = ${world.clock.iso()} where id = ${account.id}`
      await accounts.reinstate(account.id)
      return await messages.submit(submission)
    },
  }
  const runs = runsWorker({ platform: world.platform, channels, contacts, messages: interrupted }, () => true)

  await runs.tick()
  const between = await outcomeOf(api, id)
  await world.clock.advance(1000)
  await runs.tick()

  assert.deepEqual([between, await outcomeOf(api, id)], ['scheduled', 'cancelled account_suspended'])
  assert.deepEqual((await api.get('/v1/messages')).body.data, [])
})

test('an unexpected error repeats only the run that caused it', async (t) => {
  const { world, account, api, source } = await start(t)
  const automation = await automationOf(account, source)
  const ids = await happened(world.platform, account, automation, [{ to }, { to: '+4915199999999' }])
  const { channels, contacts, messages } = world.services
  const broken: MessageService = {
    ...messages,
    check(tenant, written) {
      if ((written as { to: string }).to === to) throw new TypeError('a bug')
      return messages.check(tenant, written)
    },
  }
  const runs = runsWorker({ platform: world.platform, channels, contacts, messages: broken }, () => false)

  for (let passed = 0; passed < 72 * minute; passed += minute / 2) {
    await runs.tick()
    await world.clock.advance(minute / 2)
  }

  assert.deepEqual(await Promise.all(ids.map((id) => outcomeOf(api, id))), ['failed internal_error', 'sent'])
})

test('an unclosed tag is plain text and does not delay other runs', async (t) => {
  const { world, account, api, source } = await start(t)
  const other = await world.account()
  const open = { type: 'text', text: { body: 'Thanks for {{data.order' } }
  const unclosed = await automationOf(account, source, { message: open })
  const well = await automationOf(other, await sourceOf(other), {
    message: { type: 'text', text: { body: 'Thanks for {{data.a"b.c}}' } },
  })
  const [mine] = await happened(world.platform, account, unclosed, [{ to, data: { order: 1 } }])
  const [theirs] = await happened(world.platform, other, well, [{ to, data: { 'a"b': { c: 'it' } } }])

  await world.tick(worker)

  const bodyOf = async (from: Api, id: string | undefined) =>
    (await from.get(`/v1/messages/${(await readRun(from, id)).message_id}`)).body.content.text.body
  assert.deepEqual(
    [await bodyOf(api, mine), await bodyOf(other.api, theirs)],
    ['Thanks for {{data.order', 'Thanks for it'],
  )
})

test('a run with an unreadable event is retried alone, fails after an hour, and does not delay others', async (t) => {
  const { world, account, api, source } = await start(t)
  const automation = await automationOf(account, source, {
    message: { type: 'text', text: { body: 'Order {{data.number}}' } },
  })
  const [well, broken, beside] = await happened(
    world.platform,
    account,
    automation,
    [1, 2, 3].map((number) => ({ to, data: { number } })),
  )
  await world.platform.pool`
    update automation_events set data = '{"number": "\\u0000"}' where id = (select automation_event_id from automation_runs where id = ${broken!})`

  await world.tick(worker)
  const atOnce = await Promise.all([well, broken, beside].map((id) => outcomeOf(api, id)))
  await passFor(world, 72 * minute)

  assert.deepEqual(atOnce, ['sent', 'scheduled', 'sent'])
  assert.equal(await outcomeOf(api, broken), 'failed internal_error')
})

test('a run without funds waits, continues when there are funds, and fails after an hour', async (t) => {
  const { world, account, api, channel } = await liveSms(t, { credit_micros: 1 })
  const automation = await automationOf(account, await sourceOf(account), { channel_id: channel })
  const [lucky] = await happened(world.platform, account, automation, [{ to }])
  await world.tick(worker)
  const waiting = await outcomeOf(api, lucky)
  await world.services.billing.creditWallet(world.pool, account.id, 7500, null)
  await passFor(world, minute)
  const [unlucky] = await happened(world.platform, account, automation, [{ to }])
  await passFor(world, 59 * minute)
  const late = await outcomeOf(api, unlucky)
  await passFor(world, 12 * minute)

  assert.equal(waiting, 'scheduled')
  assert.equal(await outcomeOf(api, lucky), 'sent')
  assert.deepEqual([late, await outcomeOf(api, unlucky)], ['scheduled', 'failed insufficient_balance'])
})

test('a run waits while its channel is unavailable, and is then sent', async (t) => {
  const { world, account, api, channel } = await liveSms(t)
  const automation = await automationOf(account, await sourceOf(account), { channel_id: channel })
  await api.patch(`/v1/channels/${channel}`, { status: 'disabled' })
  const [id] = await happened(world.platform, account, automation, [{ to }])
  await passFor(world, 2 * minute)
  const waiting = await outcomeOf(api, id)

  await api.patch(`/v1/channels/${channel}`, { status: 'active' })
  await passFor(world, 3 * minute)

  assert.deepEqual([waiting, await outcomeOf(api, id)], ['scheduled', 'sent'])
})

test('a run claimed by a dead process is sent by another one after half a minute', async (t) => {
  const { world, account, api, source } = await start(t)
  const automation = await automationOf(account, source)
  const [id] = await happened(world.platform, account, automation, [{ to }])
  await world.pool`update automation_runs set next_run_at = ${new Date(world.clock.now() + 30_000).toISOString()} where id = ${id!}`

  await world.clock.advance(29_000)
  await world.tick(worker)
  const before = await outcomeOf(api, id)
  await world.clock.advance(1000)
  await world.tick(worker)

  assert.deepEqual([before, await outcomeOf(api, id)], ['scheduled', 'sent'])
})

test('a process that claimed a run for too long cannot change it after another process has claimed it', async (t) => {
  const { world, account, api, source } = await start(t)
  const [id] = await happened(world.platform, account, await automationOf(account, source), [{ to }])
  const claim = (until_ms: number) =>
    claimDue(
      world.pool,
      [{ source_id: source, most: 1 }],
      world.clock.iso(),
      new Date(world.clock.now() + until_ms).toISOString(),
    )
  const [late] = await claim(1000)
  await world.clock.advance(1000)
  const [other] = await claim(30_000)

  await endRuns(world.pool, [
    { id: id!, claimed_until: late!.claimed_until, status: 'failed', reason: 'internal_error' },
  ])
  await postponeRuns(world.pool, [
    { id: id!, claimed_until: late!.claimed_until, next_run_at: world.clock.iso(), failures: 9 },
  ])
  const nobody = await claim(30_000)
  await postponeRuns(world.pool, [
    { id: id!, claimed_until: other!.claimed_until, next_run_at: world.clock.iso(), failures: 0 },
  ])
  await world.tick(worker)

  assert.deepEqual([...nobody], [])
  assert.equal(await outcomeOf(api, id), 'sent')
})

test('processes that do not know of each other send each run once', async (t) => {
  const { world, account, source } = await start(t)
  const automation = await automationOf(account, source)
  await happened(world.platform, account, automation, recipients(200))
  const { channels, contacts, messages } = world.services
  const workers = [1, 2].map(() => runsWorker({ platform: world.platform, channels, contacts, messages }, () => true))

  // rows locked by the other process are retried a second later
  for (
    let rounds = 0;
    rounds < 50 && (await Promise.all(workers.map((each) => each.tick()))).some((begun) => begun > 0);
    rounds++
  )
    await world.clock.advance(1000)

  const [counts] = await world.pool`
    select (select count(*)::int from automation_runs where status = 'sent') as sent, (select count(*)::int from messages) as messages, (select max(failures)::int from automation_runs) as failures`
  assert.deepEqual(counts, { sent: 200, messages: 200, failures: 0 })
  await world.invariants()
})

test('many runs of one source do not delay a single run of another', async (t) => {
  const { world, account, source } = await start(t)
  const flood = await automationOf(account, source)
  const single = await automationOf(account, await sourceOf(account, 'another shop'))
  await happened(world.platform, account, flood, recipients(600))
  await world.clock.advance(1000)
  await happened(world.platform, account, single, [{ to }])

  await world.settle(worker)

  const messages = await world.pool<
    { origin_id: string; priority: string }[]
  >`select origin_id, priority from messages order by id`
  assert.equal(messages.length, 601)
  const place = messages.findIndex(({ origin_id }) => origin_id === single.id)
  assert.ok(place < 100, `it went as number ${place}`)
  assert.equal(messages[place]!.priority, 'normal')
  assert.ok(messages.every(({ origin_id, priority }) => origin_id === single.id || priority === 'low'))
  await world.invariants()
})

test('sources of one account take turns with those of others', async (t) => {
  const world = await startWorld(t)
  const many = await world.account()
  const one = await world.account()
  for (let n = 0; n < 12; n++) {
    const automation = await automationOf(many, await sourceOf(many, `shop ${n}`))
    await happened(
      world.platform,
      many,
      automation,
      Array.from({ length: 20 }, (_, k) => ({ to: `+4915${10_000_000 + 100 * n + k}` })),
    )
  }
  await world.clock.advance(1000)
  const [id] = await happened(world.platform, one, await automationOf(one, await sourceOf(one)), [{ to }])

  const { sources } = await listDueSources(world.pool, {
    at: world.clock.iso(),
    excluded: [],
    after: '',
    scanned_max: 100,
    sources_max: 2,
    counted_max: 6,
  })

  const { source_id } = await readRun(one.api, id)
  assert.deepEqual(new Set(sources.map(({ due }) => due)), new Set([1, 6]))
  assert.ok(sources.some((source) => source.source_id === source_id))
})

test('a run on a suspended channel fails, while runs on other channels are sent', async (t) => {
  const { world, account, api, channel } = await liveSms(t)
  const source = await sourceOf(account)
  const other = (await api.post('/v1/channels', smsChannel)).body.id as string
  const [stopped, going] = [
    await automationOf(account, source, { channel_id: channel }),
    await automationOf(account, source, { channel_id: other }),
  ]
  const [[first], [second]] = [
    await happened(world.platform, account, stopped, [{ to }]),
    await happened(world.platform, account, going, [{ to }]),
  ]

  await world.pool`update channels set status = 'suspended' where id = ${channel} and account_id = ${account.id} and mode = 'live'`
  world.services.channels.forget()
  await world.tick(worker)

  assert.deepEqual([await outcomeOf(api, first), await outcomeOf(api, second)], ['failed channel_suspended', 'sent'])
})
