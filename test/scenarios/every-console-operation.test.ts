/** Every operation of the console treats ids of another account or mode as unknown (behaviour: console 2). */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { Answered } from '../support/api.ts'
import { consoleClient, ownerPassword, signedInOwner, type ConsoleClient } from '../support/console-api.ts'
import { bodyOf, makers, nameOf, pathWith } from '../support/makers.ts'
import { startWorld, type TestAccount, type World } from '../support/world.ts'

type Mode = 'live' | 'test'

interface Made {
  readonly ids: readonly string[]
  /** undefined: the kind has no mode. */
  readonly mode: Mode | undefined
}

interface Scene {
  readonly world: World
  readonly owner: ConsoleClient
  readonly account: TestAccount
  readonly stranger: ConsoleClient
}

async function scene(t: test.TestContext): Promise<Scene> {
  const world = await startWorld(t, { settings: { rate_limit_console: 1_000_000 } })
  const account = await world.account()
  const owner = await signedInOwner(world)
  const other = await world.account()
  const email = 'bea@example.com'
  const membership = { account_id: other.id as `acc_${string}`, role: 'owner' } as const
  const { link } = await world.services.operators.people.create({ email, name: 'Bea', admin: false, membership })
  const stranger = consoleClient(world)
  await stranger.send('POST', '/password_resets/confirm', { token: link.split('#')[1], password: ownerPassword })
  assert.equal((await stranger.send('POST', '/session', { email, password: ownerPassword })).status, 201)
  stranger.account = other.id
  return { world, owner, account, stranger }
}

async function makeAll({ world, owner, account }: Scene): Promise<Map<string, Made>> {
  const live = await world.services.accounts.createKey({ account_id: account.id, mode: 'live' })
  const hands = { test: account, live: { ...account, api: world.api(live.key) } }
  const made = new Map<string, Made>()
  for (const [prefix, { mode, make }] of Object.entries(makers))
    made.set(prefix, { ids: await make(world, hands[mode]), mode })
  await account.api.post('/v1/test/inbound_messages', {
    channel: 'ch_test_sms',
    from: '+4915112345670',
    type: 'text',
    text: { body: 'Hello' },
  })
  const refused = await account.api.post('/v1/messages', {})
  await world.settle()
  await world.tick('request-log')
  const me = (await owner.send('GET', '/me')).body.id
  await world.pool`insert into identities (id, user_id, issuer, subject, created_at) values (${world.platform.ids('idn')}, ${me}, 'https://id.example.com', 's', now())`
  const first = async (path: string) => [(await owner.send('GET', path)).body.data[0].id]
  await owner.send('POST', '/invitations', { email: 'cem@example.com', role: 'viewer' })
  const uploaded = await owner.send('POST', '/imports', 'phone\n+4915112345671\n', { 'content-type': 'text/csv' })
  const own: Record<string, Made> = {
    '/console/api/imports/{id}': { ids: [uploaded.body.id], mode: 'test' },
    '/console/api/messages/{id}': made.get('/v1/messages/{id}')!,
    '/console/api/campaigns/{id}': made.get('/v1/campaigns/{id}')!,
    '/console/api/conversations/{id}': { ids: await first('/conversations'), mode: 'test' },
    '/console/api/requests/{id}': { ids: [refused.headers['x-request-id']!], mode: 'test' },
    '/console/api/api_keys/{id}': { ids: [live.id], mode: undefined },
    '/console/api/members/{id}': { ids: [me], mode: undefined },
    '/console/api/invitations/{id}': { ids: await first('/invitations'), mode: undefined },
    '/console/api/sessions/{id}': { ids: await first('/sessions'), mode: undefined },
    '/console/api/identities/{id}': { ids: await first('/identities'), mode: undefined },
  }
  for (const [prefix, each] of Object.entries(own)) made.set(prefix, each)
  return made
}

const missing = (id: string): string => id.replace(/[0-9a-z]{8}$/, 'zzzzzzzz')

/** The part of a response that does not depend on the object. */
const saying = ({ status, body }: Answered, ids: readonly string[]): string =>
  ids.reduce(
    (text, id) => text.replaceAll(id, '<id>'),
    JSON.stringify([status, body]).replaceAll(/req_\w+/g, '<request>'),
  )

/** The account's rows, without records of the request itself. */
async function belongings({ pool }: World, account_id: string): Promise<Record<string, string>> {
  const tables = await pool<{ name: string }[]>`
    select c.table_name as name from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
    where c.column_name = 'account_id' and c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.table_name !~ '^request_log' order by 1`
  const found: Record<string, string> = {}
  for (const { name } of tables) {
    const [row] = await pool<{ digest: string }[]>`
      select md5(coalesce(string_agg(t::text, ',' order by t::text), '')) as digest from ${pool(name)} t where account_id = ${account_id}`
    found[name] = row!.digest
  }
  const [people] = await pool<{ digest: string }[]>`
    select (select string_agg(id, ',' order by id) from sessions) || (select string_agg(u::text, ',' order by id) from users u) || (select string_agg(i::text, ',') from identities i) as digest`
  return { ...found, people: people!.digest }
}

test('every operation of the console answers ids of another account or mode like unknown ids, and changes nothing', async (t) => {
  const given = await scene(t)
  const { world, owner, account, stranger } = given
  const made = await makeAll(given)
  const before = await belongings(world, account.id)
  const rows = [
    ...world.app.routes
      .filter(({ signedHandler, source_key }) => signedHandler === undefined && source_key !== true)
      .map((route) => ({ route, base: '' })),
    ...world.app.consoleRoutes.map((route) => ({ route, base: '/console/api' })),
  ].filter(({ route }) => route.path.includes('{'))
  assert.ok(rows.length > 60, `${rows.length} operations`)

  for (const { route, base } of rows) {
    const prefix = [...made.keys()].find((known) => route.path.startsWith(known))
    assert.ok(prefix !== undefined, `${nameOf(route)}: say in this test how an id of its kind comes about`)
    const { ids, mode } = made.get(prefix)!
    assert.ok(
      ids.every((id) => typeof id === 'string' && id !== missing(id)),
      `${prefix}: ${ids.join()}`,
    )
    const nobodys = ids.map(missing)
    const call = async (client: ConsoleClient, asked: Mode, wanted: readonly string[]) => {
      client.mode = asked
      return await client.send(
        route.method,
        pathWith(route, wanted).slice(base.length),
        route.method === 'GET' || route.method === 'DELETE' ? undefined : bodyOf(route),
      )
    }
    const callers = [
      [stranger, mode ?? 'test'],
      ...(mode === undefined ? [] : [[owner, mode === 'live' ? 'test' : 'live'] as const]),
    ] as const
    if (route.method === 'GET') assert.equal((await call(owner, mode ?? 'test', ids)).status, 200, nameOf(route))
    for (const [caller, asked] of callers) {
      const answer = await call(caller, asked, ids)
      assert.ok(answer.status >= 400, `${nameOf(route)}: ${answer.status}`)
      if (route.mode === undefined || route.mode === asked)
        assert.deepEqual([answer.status, answer.body.error.code], [404, 'resource_missing'], nameOf(route))
      assert.equal(saying(answer, ids), saying(await call(caller, asked, nobodys), nobodys), nameOf(route))
    }
  }
  assert.deepEqual(await belongings(world, account.id), before)
})

const text = { type: 'text', text: { body: 'Hello' } } as const
const rules = (list: string) => ({
  match: 'all',
  conditions: [{ field: 'lists', operator: 'contains_any', value: [list] }],
})
const adhoc = { type: 'adhoc', recipients: [{ to: '+4915112345678' }] }
const campaign = (given: object) => ({ name: 'C', channel: 'ch_test_sms', audience: adhoc, message: text, ...given })

interface Naming {
  readonly path: string
  readonly method?: 'POST' | 'PATCH'
  /** The kind of the id, by the first words of its path. */
  readonly of: string
  readonly body?: (id: string) => unknown
  /** Replaces `{own}` with an object of the caller of this kind. */
  readonly own?: string
}

/** Operations with the id of an object in the body or the query. */
const namings: readonly Naming[] = [
  {
    method: 'POST',
    path: '/v1/messages',
    of: '/v1/channels/{id}',
    body: (channel) => ({ channel, to: '+4915112345678', ...text }),
  },
  {
    method: 'POST',
    path: '/v1/messages/batch',
    of: '/v1/channels/{id}',
    body: (channel) => ({ messages: [{ channel, to: '+4915112345678', ...text }] }),
  },
  {
    method: 'POST',
    path: '/v1/test/inbound_messages',
    of: '/v1/channels/{id}',
    body: (channel) => ({ channel, from: '+4915112345678', ...text }),
  },
  { method: 'POST', path: '/v1/campaigns', of: '/v1/channels/{id}', body: (channel) => campaign({ channel }) },
  {
    method: 'POST',
    path: '/v1/campaigns',
    of: '/v1/contact_lists/{id}',
    body: (list) => campaign({ audience: { type: 'list', list_id: list } }),
  },
  {
    method: 'POST',
    path: '/v1/campaigns',
    of: '/v1/segments/{id}',
    body: (segment) => campaign({ audience: { type: 'segment', segment_id: segment } }),
  },
  {
    method: 'PATCH',
    path: '/v1/campaigns/{own}',
    own: '/v1/campaigns/{id}',
    of: '/v1/channels/{id}',
    body: (channel) => ({ channel }),
  },
  {
    method: 'PATCH',
    path: '/v1/campaigns/{own}',
    own: '/v1/campaigns/{id}',
    of: '/v1/contact_lists/{id}',
    body: (list) => ({ audience: { type: 'list', list_id: list } }),
  },
  {
    method: 'POST',
    path: '/v1/contact_lists/{own}/members',
    own: '/v1/contact_lists/{id}',
    of: '/v1/contacts/{id}',
    body: (id) => ({ contacts: [id] }),
  },
  {
    method: 'POST',
    path: '/v1/contact_lists/{own}/members/remove',
    own: '/v1/contact_lists/{id}',
    of: '/v1/contacts/{id}',
    body: (id) => ({ contacts: [id] }),
  },
  {
    method: 'POST',
    path: '/v1/segments',
    of: '/v1/contact_lists/{id}',
    body: (list) => ({ name: 'S', rules: rules(list) }),
  },
  {
    method: 'POST',
    path: '/v1/automation_events',
    of: '/v1/integration_sources/{id}',
    body: (source) => ({ source, type: 'order.paid', event_id: 'X' }),
  },
  {
    method: 'POST',
    path: '/v1/automations',
    of: '/v1/integration_sources/{id}',
    body: (source_id) => ({ name: 'A', source_id, event_type: 'order.paid', channel_id: 'ch_test_sms', message: text }),
  },
  {
    method: 'PATCH',
    path: '/v1/automations/{own}',
    own: '/v1/automations/{id}',
    of: '/v1/channels/{id}',
    body: (channel_id) => ({ channel_id }),
  },
  { path: '/v1/messages?channel=', of: '/v1/channels/{id}' },
  { path: '/v1/contacts?list=', of: '/v1/contact_lists/{id}' },
  { path: '/v1/contacts?segment=', of: '/v1/segments/{id}' },
  { path: '/v1/contacts/export?list=', of: '/v1/contact_lists/{id}' },
  { path: '/v1/contacts/export?segment=', of: '/v1/segments/{id}' },
  { path: '/v1/automations?source=', of: '/v1/integration_sources/{id}' },
  { path: '/v1/automation_events?source=', of: '/v1/integration_sources/{id}' },
  { path: '/v1/automation_runs?automation=', of: '/v1/automations/{id}' },
  { path: '/v1/events?object_id=', of: '/v1/messages/{id}' },
  { path: '/v1/balance_transactions?message_id=', of: '/v1/messages/{id}' },
  ...[
    'messages',
    'contacts',
    'campaigns',
    'segments',
    'contact_lists',
    'integration_sources',
    'automations',
    'automation_events',
    'automation_runs',
    'events',
  ].map((kind) => ({ path: `/v1/${kind}?starting_after=`, of: `/v1/${kind}/{id}` })),
  { method: 'POST', path: '/preview', of: '/v1/channels/{id}', body: (channel) => ({ channel, message: text }) },
  {
    method: 'POST',
    path: '/preview',
    of: '/v1/contact_lists/{id}',
    body: (list) => ({ channel: 'ch_test_sms', message: text, audience: { type: 'list', list_id: list } }),
  },
  { method: 'POST', path: '/segment_previews', of: '/v1/contact_lists/{id}', body: (list) => ({ rules: rules(list) }) },
  { method: 'POST', path: '/deliveries/retry', of: '/v1/webhook_endpoints/{id}', body: (endpoint) => ({ endpoint }) },
  { path: '/deliveries/retry?created_until=2026-01-01T00:00:00.000Z&endpoint=', of: '/v1/webhook_endpoints/{id}' },
  { path: '/conversations?contact=', of: '/v1/contacts/{id}' },
  { path: '/conversations?starting_after=', of: '/console/api/conversations/{id}' },
  { path: '/requests?starting_after=', of: '/console/api/requests/{id}' },
  { path: '/audit_entries?object_id=', of: '/v1/contact_lists/{id}' },
  { path: '/search?q=', of: '/v1/messages/{id}' },
  { path: '/search?q=', of: '/v1/contacts/{id}' },
  { path: '/search?q=', of: '/v1/webhook_endpoints/{id}' },
  { path: '/search?q=', of: '/console/api/requests/{id}' },
]

test('ids of another account or mode in bodies and queries count as unknown', async (t) => {
  const given = await scene(t)
  const { world, owner, account, stranger } = given
  const made = await makeAll(given)
  const before = await belongings(world, account.id)
  const strangers = await strangersOwn(given)

  for (const { method = 'GET', path, of, own, body } of namings) {
    const { ids, mode } = made.get(of)!
    const id = ids[0]!
    const call = async (client: ConsoleClient, wanted: string) => {
      const whole = path.replace('{own}', own === undefined ? '' : strangers[own]!)
      return await client.send(method, body === undefined ? `${whole}${wanted}` : whole, body?.(wanted))
    }
    stranger.mode = own === undefined ? (mode ?? 'test') : 'test'
    owner.mode = mode === 'live' ? 'test' : 'live'
    const name = `${method} ${path} of ${of}`
    // an owner's list does not show other accounts' objects either
    for (const caller of own === undefined && !path.startsWith('/audit_entries') ? [stranger, owner] : [stranger]) {
      const answer = await call(caller, id)
      const nobodys = await call(caller, missing(id))
      assert.equal(saying(answer, [id]), saying(nobodys, [missing(id)]), name)
      if (method !== 'GET') assert.ok(answer.status < 500, name)
    }
  }
  assert.deepEqual(await belongings(world, account.id), before)
})

async function strangersOwn({ world, stranger }: Scene): Promise<Record<string, string>> {
  const key = await world.services.accounts.createKey({ account_id: stranger.account!, mode: 'test' })
  const hands: TestAccount = { id: key.account_id, mode: 'test', key: key.key, key_id: key.id, api: world.api(key.key) }
  const kinds = ['/v1/campaigns/{id}', '/v1/contact_lists/{id}', '/v1/automations/{id}']
  const found: Record<string, string> = {}
  for (const kind of kinds) found[kind] = (await makers[kind]!.make(world, hands))[0]!
  return found
}
