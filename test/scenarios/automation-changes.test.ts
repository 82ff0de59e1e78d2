/** Changes of an automation with waiting runs (behaviour: integrations 5.6, 5.7). */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { lockWaits } from '../support/lock-waits.ts'
import { liveSms } from '../support/campaigns.ts'
import { holdOpen } from '../support/open-transactions.ts'
import { startProcess } from '../support/process.ts'
import { until } from '../support/waiting.ts'
import { startWorld } from '../support/world.ts'

const phone = '+4915112345678'
const hourMs = 3600_000

async function startShop(t: TestContext) {
  const world = await startWorld(t, { settings: { rate_limit_default: 10_000 } })
  const account = await world.account()
  const { api } = account
  const source = (await api.post('/v1/integration_sources', { platform: 'custom', external_id: 'shop' })).body
    .id as string
  const make = async (more: object = {}): Promise<string> => {
    const message = { type: 'text', text: { body: 'First' } }
    const given = {
      name: 'A',
      source_id: source,
      event_type: 'cart.abandoned',
      channel_id: 'ch_test_sms',
      delay_seconds: 3600,
      message,
      ...more,
    }
    const made = await api.post('/v1/automations', given)
    assert.equal(made.status, 201, JSON.stringify(made.body))
    return made.body.id
  }
  let n = 0
  const report = async (type = 'cart.abandoned'): Promise<string[]> => {
    const reported = await api.post('/v1/automation_events', { source, type, event_id: `e${++n}`, customer: { phone } })
    assert.equal(reported.status, 202, JSON.stringify(reported.body))
    return reported.body.runs.map(({ id }: { id: string }) => id)
  }
  const outcomeOf = async (id: string | undefined): Promise<string> => {
    const { status, reason } = (await api.get(`/v1/automation_runs/${id}`)).body
    return [status, reason].filter(Boolean).join(' ')
  }
  const change = async (id: string, body: object) => {
    const changed = await api.patch(`/v1/automations/${id}`, body)
    assert.equal(changed.status, 200, JSON.stringify(changed.body))
  }
  const pass = async () => {
    await world.clock.advance(hourMs)
    await world.settle()
  }
  return { world, account, api, source, make, report, outcomeOf, change, pass }
}

test('pausing an automation cancels its waiting runs for good', async (t) => {
  const { make, report, outcomeOf, change, pass } = await startShop(t)
  const id = await make()
  const [waiting] = await report()

  await change(id, { status: 'paused' })
  const cancelled = await outcomeOf(waiting)
  const meanwhile = await report()
  await change(id, { status: 'active' })
  const [later] = await report()
  await pass()

  assert.deepEqual([cancelled, meanwhile], ['cancelled automation_paused', []])
  assert.deepEqual([await outcomeOf(waiting), await outcomeOf(later)], ['cancelled automation_paused', 'sent'])
})

test('deleting an automation cancels its waiting runs', async (t) => {
  const { api, make, report, outcomeOf, pass } = await startShop(t)
  const [deleted, other] = [await make(), await make()]
  const [first, second] = await report()

  await api.delete(`/v1/automations/${deleted}`)
  const cancelled = await outcomeOf(first)
  await pass()

  assert.deepEqual(
    [cancelled, await outcomeOf(first), await outcomeOf(second)],
    ['cancelled automation_deleted', 'cancelled automation_deleted', 'sent'],
  )
  assert.equal((await api.get(`/v1/automation_runs?automation=${other}`)).body.data.length, 1)
})

test('a waiting run keeps its time and is sent with the current message of its automation', async (t) => {
  const { world, api, make, report, outcomeOf, change, pass } = await startShop(t)
  const id = await make()
  const [waiting] = await report()

  await change(id, {
    name: 'B',
    delay_seconds: 60,
    conditions: { match: 'all', conditions: [{ field: 'data.a', operator: 'exists' }] },
    message: { type: 'text', text: { body: 'Second' } },
  })
  await world.clock.advance(60_000)
  await world.settle()
  const early = await outcomeOf(waiting)
  await pass()
  const { message_id } = (await api.get(`/v1/automation_runs/${waiting}`)).body

  assert.deepEqual([early, await outcomeOf(waiting)], ['scheduled', 'sent'])
  assert.equal((await api.get(`/v1/messages/${message_id}`)).body.content.text.body, 'Second')
})

test('changing the event type or the channel type of an automation cancels its waiting runs', async (t) => {
  const { make, report, outcomeOf, change, pass } = await startShop(t)
  const [event, channel] = [await make(), await make()]
  const [first, second] = await report()

  await change(event, { event_type: 'order.paid' })
  await change(channel, { channel_id: 'ch_test_telegram' })
  const cancelled = [await outcomeOf(first), await outcomeOf(second)]
  const [fresh] = await report('order.paid')
  await pass()

  assert.deepEqual(cancelled, ['cancelled automation_changed', 'cancelled automation_changed'])
  assert.deepEqual([await outcomeOf(first), await outcomeOf(fresh)], ['cancelled automation_changed', 'sent'])
})

test('a changed cancel_on applies to waiting runs', async (t) => {
  const { make, report, outcomeOf, change, pass } = await startShop(t)
  const [added, removed] = [await make(), await make({ cancel_on: ['order.paid'] })]
  const [first, second] = await report()

  await change(added, { cancel_on: ['order.paid'] })
  await change(removed, { cancel_on: null })
  await report('order.paid')
  const cancelled = await outcomeOf(first)
  await pass()

  assert.deepEqual([cancelled, await outcomeOf(second)], ['cancelled cancel_on', 'sent'])
})

test('after two concurrent changes of cancel_on, the stored one applies to all waiting runs', async (t) => {
  const { world, account, api, make, report, outcomeOf } = await startShop(t)
  const id = await make({ event_type: 'order.created' })
  const [waiting] = await report('order.created')
  const sibling = (await startProcess(t, world, 'sibling')).api(account.key)

  await Promise.all([
    api.patch(`/v1/automations/${id}`, { cancel_on: ['order.paid'] }),
    sibling.patch(`/v1/automations/${id}`, { cancel_on: ['order.shipped'] }),
  ])
  const { cancel_on } = (await api.get(`/v1/automations/${id}`)).body
  const other = cancel_on[0] === 'order.paid' ? 'order.shipped' : 'order.paid'
  await report(other)
  const kept = await outcomeOf(waiting)
  await report(cancel_on[0])

  assert.deepEqual([kept, await outcomeOf(waiting)], ['scheduled', 'cancelled cancel_on'])
})

test('a change is answered after all waiting runs were updated, however many there are', async (t) => {
  const { world, account, api, source, make, change } = await startShop(t)
  const at = world.clock.iso()
  const later = new Date(world.clock.now() + hourMs).toISOString()
  const fill = async (automation: string) =>
    await world.pool`
      insert into automation_runs (account_id, mode, id, source_id, automation_id, automation_event_id, customer_keys, status, scheduled_for, next_run_at, event_type, channel_type, created_at)
      select ${account.id}, 'test', 'run_' || ${automation}::text || n, ${source}, ${automation}, 'aev_' || n, array['phone:' || n], 'scheduled', ${later}, ${later}, 'cart.abandoned', 'sms', ${at}
      from generate_series(1, 2500) n`
  const [paused, other, disabled] = [await make(), await make(), await make()]
  for (const id of [paused, other, disabled]) await fill(id)
  const count = async (automation: string) =>
    (
      await world.pool<{ outcome: string; count: number }[]>`
        select concat_ws(' ', status, reason) as outcome, count(*)::int as count from automation_runs where automation_id = ${automation} group by 1`
    ).map(({ outcome, count }) => [outcome, count])

  await change(paused, { status: 'paused' })
  await change(other, { event_type: 'order.paid' })
  const before = [await count(paused), await count(other), await count(disabled)]
  await api.patch(`/v1/integration_sources/${source}`, { status: 'disabled' })

  assert.deepEqual(before, [
    [['cancelled automation_paused', 2500]],
    [['cancelled automation_changed', 2500]],
    [['scheduled', 2500]],
  ])
  assert.deepEqual(
    [await count(paused), await count(disabled)],
    [[['cancelled automation_paused', 2500]], [['cancelled source_disabled', 2500]]],
  )
})

test('deleting a channel cancels the runs that wait for it', async (t) => {
  const { world, api, channel } = await liveSms(t)
  const source = (await api.post('/v1/integration_sources', { platform: 'custom', external_id: 'shop' })).body.id
  const message = { type: 'text', text: { body: 'Thanks' } }
  const given = {
    name: 'A',
    source_id: source,
    event_type: 'order.paid',
    channel_id: channel,
    delay_seconds: 3600,
    message,
  }
  const { id } = (await api.post('/v1/automations', given)).body
  const reported = await api.post('/v1/automation_events', {
    source,
    type: 'order.paid',
    event_id: '1',
    customer: { phone },
  })

  await api.delete(`/v1/channels/${channel}`)
  const run = (await api.get(`/v1/automation_runs/${reported.body.runs[0].id}`)).body
  const again = await api.post('/v1/automation_events', {
    source,
    type: 'order.paid',
    event_id: '2',
    customer: { phone },
  })

  assert.deepEqual([run.automation_id, run.status, run.reason], [id, 'cancelled', 'channel_deleted'])
  assert.deepEqual([again.body.status, again.body.reason], ['ignored', 'no_automation'])
  await world.invariants()
})

test('an automation created or moved to a channel during its deletion is refused or paused', async (t) => {
  const { world, api, channel } = await liveSms(t)
  const body = { type: 'sms', provider: 'simulator', name: 'Other', identifier: '+4915100000001', credentials: {} }
  const other = (await api.post('/v1/channels', body)).body.id as string
  const source = (await api.post('/v1/integration_sources', { platform: 'custom', external_id: 'shop' })).body
    .id as string
  const given = {
    name: 'A',
    source_id: source,
    event_type: 'order.paid',
    message: { type: 'text', text: { body: 'Thanks' } },
  }
  const { id } = (await api.post('/v1/automations', { ...given, channel_id: channel })).body
  const waiting = () => lockWaits(world.pool)

  const { answers, deleted } = await holdOpen(world.pool, async (tx) => {
    await tx`select from integration_sources where id = ${source} for update`
    const asked = [
      api.post('/v1/automations', { ...given, channel_id: other }),
      api.patch(`/v1/automations/${id}`, { channel_id: other }),
    ]
    await until(
      'both to be checked and to wait for the source',
      () => waiting(),
      (count) => count === 2,
    )
    const removed = { done: false }
    const remove = api.delete(`/v1/channels/${other}`).finally(() => (removed.done = true))
    await until('the delete to wait or to be answered', async () => removed.done || (await waiting()) > 2)
    return { answers: Promise.all(asked), deleted: remove }
  })
  await Promise.all([answers, deleted])
  const { data } = (await api.get('/v1/automations')).body

  assert.deepEqual(
    data.map((one: { channel_id: string; status: string }) => [one.channel_id, one.status]),
    [
      [other, 'paused'],
      [other, 'paused'],
    ],
  )
})

test('a channel can be deleted while a source with an automation on it is deleted', async (t) => {
  const { world, api, channel } = await liveSms(t)
  const source = (await api.post('/v1/integration_sources', { platform: 'custom', external_id: 'shop' })).body
    .id as string
  const message = { type: 'text', text: { body: 'Thanks' } }
  await api.post('/v1/automations', {
    name: 'A',
    source_id: source,
    event_type: 'order.paid',
    channel_id: channel,
    message,
  })

  const deleting = await holdOpen(world.pool, async (tx) => {
    await tx`update integration_sources set deleted_at = ${world.clock.iso()} where id = ${source}`
    await tx`update automations set status = 'paused', deleted_at = ${world.clock.iso()} where source_id = ${source}`
    const answered = api.delete(`/v1/channels/${channel}`)
    await until(
      'the delete of the channel to wait for that of the source',
      async () => (await lockWaits(world.pool)) > 0,
    )
    return { answered }
  })

  assert.ok((await deleting.answered).status < 300)
  assert.equal((await api.get(`/v1/channels/${channel}`)).status, 404)
})
