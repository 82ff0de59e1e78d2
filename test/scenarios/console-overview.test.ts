/** Overview, search and previews of the console. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signedInOwner } from '../support/console-api.ts'
import { startWorld } from '../support/world.ts'

const text = (to: string, more = {}) => ({ channel: 'ch_test_sms', to, type: 'text', text: { body: 'Hello' }, ...more })

test('the overview counts by days of the time zone, and messages that failed after sending count as sent', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const client = await signedInOwner(world)
  await world.services.accounts.update(account.id, { timezone: 'Pacific/Auckland' })
  for (const to of ['+15005550006', '+15005550010', '+15005550001', '+15005550002', '+15005550005'])
    assert.equal((await client.send('POST', '/v1/messages', text(to))).status, 202)
  await world.clock.advance(1000)
  await world.settle()
  await world.clock.advance(1000)
  await world.settle()

  const reported = async () => (await client.send('GET', '/overview')).body
  const first = await reported()
  assert.deepEqual([first.sent, first.delivered, first.failed], [4, 2, 2])
  assert.equal(first.days.length, 30)
  const today = new Intl.DateTimeFormat('en-CA', { timeZone: 'Pacific/Auckland' }).format(world.clock.now())
  assert.deepEqual(first.days.at(-1), { date: today, sent: 4, delivered: 2, failed: 2 })

  await world.periodicJobs()
  assert.deepEqual(await reported(), first)
  let later = first
  for (const _ of [8, 16, 24]) {
    await world.clock.advance(8 * 3600_000)
    later = await reported()
  }
  assert.deepEqual(later.days.at(-2), first.days.at(-1))
  assert.equal(later.days.at(-1).sent, 0)
  client.mode = 'live'
  assert.equal((await reported()).sent, 0)
  await world.invariants()
})

test('the overview names problems that the role may read', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const client = await signedInOwner(world)
  const { body: endpoint } = await client.send('POST', '/v1/webhook_endpoints', {
    url: 'https://example.com/',
    events: ['*'],
  })
  await client.send('PATCH', `/v1/webhook_endpoints/${endpoint.id}`, { status: 'disabled' })
  assert.deepEqual((await client.send('GET', '/overview')).body.needs_attention, [
    { type: 'webhook_endpoint_disabled', id: endpoint.id },
  ])

  await world.pool`update memberships set role = 'finance'`
  assert.deepEqual((await client.send('GET', '/overview')).body.needs_attention, [])
  client.mode = 'live'
  assert.deepEqual(
    (await client.send('GET', '/overview')).body.needs_attention.map(({ type }: { type: string }) => type),
    ['balance_low'],
  )
})

test('the search finds ids, numbers, addresses, references and requests that the role may read', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const client = await signedInOwner(world)
  const { body: contact } = await client.send('POST', '/v1/contacts', {
    phone: '+15005550006',
    email: 'Ada@Example.com',
    first_name: 'Ada',
  })
  const { body: message } = await client.send('POST', '/v1/messages', text('+15005550006', { reference: 'order 7' }))
  const { body: list } = await client.send('POST', '/v1/contact_lists', { name: 'Friends' })
  const refused = await client.send('POST', '/v1/contact_lists', {})
  await world.tick('request-log')
  const found = async (q: string) => {
    const answer = await client.send('GET', `/search?q=${encodeURIComponent(q)}`)
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    return answer.body.data.map(({ type, id, title }: Record<string, string>) => [type, id, title])
  }

  const ada = ['contact', contact.id, 'Ada']
  const sent = ['message', message.id, '+15005550006']
  assert.deepEqual(await found('+1 500 555 0006'), [ada, sent])
  assert.deepEqual(await found('ada@example.com'), [ada])
  assert.deepEqual(await found('order 7'), [sent])
  assert.deepEqual(await found(contact.id), [ada])
  assert.deepEqual(await found(message.id), [sent])
  assert.deepEqual(await found(list.id), [['contact_list', list.id, 'Friends']])
  assert.deepEqual(await found('ch_test_sms').then((all: string[][]) => all[0]!.slice(0, 2)), [
    'channel',
    'ch_test_sms',
  ])
  assert.deepEqual(await found(refused.body.error.request_id), [
    ['request', refused.body.error.request_id, 'POST /console/api/v1/contact_lists'],
  ])
  const { id: endpoint_id } = (
    await client.send('POST', '/v1/webhook_endpoints', { url: 'https://example.com/hook', events: ['*'] })
  ).body
  const { body: delivery } = await client.send('POST', `/v1/webhook_endpoints/${endpoint_id}/test`)
  assert.deepEqual(await found(delivery.id), [['webhook_endpoint', endpoint_id, 'https://example.com/hook']])
  const { user } = (await client.send('GET', '/session')).body
  assert.deepEqual(await found(user.id), [['member', user.id, 'Olivia Owner']])
  assert.deepEqual(await found('nothing like this'), [])
  assert.equal((await client.send('GET', '/search')).body.error.code, 'parameter_missing')

  await world.pool`update memberships set role = 'finance'`
  for (const q of ['+15005550006', contact.id, message.id, refused.body.error.request_id])
    assert.deepEqual(await found(q), [], q)
  await world.pool`update memberships set role = 'owner'`
  client.mode = 'live'
  assert.deepEqual(await found(contact.id), [])
})

test('a preview shows the message for its first recipient, the number of recipients and the cost', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const client = await signedInOwner(world)
  await client.send('POST', '/v1/contacts', { phone: '+15005550006', first_name: 'Ada' })
  const message = { type: 'text', text: { body: 'Hello {{first_name}}' } }
  const preview = (body: object) => client.send('POST', '/preview', { channel: 'ch_test_sms', message, ...body })

  const alone = await preview({ message: { type: 'text', text: { body: 'Hello' } } })
  assert.deepEqual(alone.body, {
    object: 'message_preview',
    message: { type: 'text', text: { body: 'Hello' } },
    recipients_count: 1,
    cost: { package_credits: 0, wallet_micros: 0 },
  })
  const audience = { type: 'adhoc', recipients: [{ to: '+15005550010', first_name: 'Bo' }, { to: '+15005550006' }] }
  const two = await preview({ audience, merge_fallbacks: { first_name: 'friend' } })
  assert.deepEqual([two.status, two.body.message.text.body, two.body.recipients_count], [200, 'Hello Bo', 2])
  assert.equal((await preview({ audience: { type: 'segment', segment_id: 'seg_x' } })).status, 404)
  assert.equal(
    (await preview({ message: { type: 'text', text: { body: 'Hello {{nope}}' } } })).body.error.details[0].code,
    'unknown_merge_tag',
  )
  assert.equal((await client.send('GET', '/v1/campaigns')).body.data.length, 0)
})

test('rules are counted before they are saved as a segment', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const client = await signedInOwner(world)
  for (const n of [6, 7])
    await client.send('POST', '/v1/contacts', { phone: `+1500555000${n}`, tags: n === 6 ? ['vip'] : [] })
  const count = (conditions: object[]) =>
    client.send('POST', '/segment_previews', { rules: { match: 'all', conditions } })

  const vip = await count([{ field: 'tags', operator: 'contains_any', value: ['vip'] }])
  assert.deepEqual([vip.status, vip.body.count, vip.body.reachable.sms, vip.body.segment_id], [200, 1, 1, null])
  assert.equal((await count([{ field: 'phone', operator: 'exists' }])).body.count, 2)
  assert.equal((await count([{ field: 'tags', operator: 'nope' }])).status, 400)
})
