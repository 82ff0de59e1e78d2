/** Authentication (behaviour: authentication 1, 2, 3, 4, 5). */
import assert from 'node:assert/strict'
import test from 'node:test'
import { Problem } from '../../src/api/problem.ts'
import type { Answered } from '../support/api.ts'
import { startProcess } from '../support/process.ts'
import { startWorld } from '../support/world.ts'

const limitHeaders = (answer: Answered) => Object.keys(answer.headers).filter((name) => name.startsWith('ratelimit-'))
const codeOf = (answer: Answered) => [answer.status, answer.body.error.code]

test('every reason for rejecting a key has its own error, without rate-limit headers', async (t) => {
  const world = await startWorld(t)
  const { accounts } = world.services
  const account = await world.account()
  const revoked = await accounts.createKey({ account_id: account.id, mode: 'test' })
  await accounts.revokeKey(revoked.id)
  const elsewhere = await accounts.createKey({
    account_id: account.id,
    mode: 'test',
    ip_allowlist: ['203.0.113.0/24', '2001:db8::/32'],
  })
  const suspended = await world.account()
  await accounts.suspend(suspended.id)
  const lastChanged = account.key.slice(0, -1) + (account.key.endsWith('A') ? 'B' : 'A')

  const answers = await Promise.all([
    world.api().get('/v1/me'),
    world.api().get('/v1/me', { authorization: 'Basic dXNlcjpwYXNz' }),
    world.api().get('/v1/me', { authorization: 'Bearer ' }),
    world.api('svc_test_short').get('/v1/me'),
    world.api(lastChanged).get('/v1/me'),
    world.api(account.key.slice(0, -1)).get('/v1/me'),
    world.api(`svc_src_${account.key.slice(9)}`).get('/v1/me'),
    world.api(revoked.key).get('/v1/me'),
    world.api(elsewhere.key).get('/v1/me'),
    suspended.api.get('/v1/me'),
    world.api().get('/v1/no/such/path'),
  ])

  assert.deepEqual(answers.map(codeOf), [
    [401, 'api_key_missing'],
    [401, 'api_key_missing'],
    [401, 'api_key_missing'],
    [401, 'api_key_invalid'],
    [401, 'api_key_invalid'],
    [401, 'api_key_invalid'],
    [401, 'api_key_invalid'],
    [401, 'api_key_revoked'],
    [403, 'ip_not_allowed'],
    [403, 'account_suspended'],
    [401, 'api_key_missing'],
  ])
  assert.deepEqual(answers.flatMap(limitHeaders), [])
  for (const { headers, body } of answers) {
    assert.match(headers['x-request-id']!, /^req_[0-9a-z]{26}$/)
    assert.equal(body.error.request_id, headers['x-request-id'])
    assert.equal(body.error.doc_url, `http://127.0.0.1:8080/docs/errors#${body.error.code}`)
  }
})

test('the scheme is case-insensitive', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()

  const answer = await world.api().get('/v1/me', { authorization: `bearer ${account.key}` })

  assert.equal(answer.status, 200)
})

test('GET /v1/me shows the account of the key, also to a key without scopes', async (t) => {
  const world = await startWorld(t)
  const account = await world.account({ name: 'Ada & Söhne', scopes: [] })

  const answer = await account.api.get('/v1/me')

  assert.equal(answer.status, 200)
  assert.deepEqual(answer.body, {
    id: account.id,
    object: 'account',
    name: 'Ada & Söhne',
    mode: 'test',
    api_key: { id: account.key_id, name: 'test key', scopes: [] },
    capabilities: ['automation_events', 'webhook_filters', 'test_inbound', 'events_feed'],
  })
  assert.equal(answer.headers['ratelimit-limit'], '1000000')
  assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
})

test('a key expires at its time, not a moment before', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const expires_at = new Date(world.clock.now() + 60_000).toISOString()
  const { key } = await world.services.accounts.createKey({ account_id: account.id, mode: 'live', expires_at })

  await world.clock.advance(59_999)
  const before = await world.api(key).get('/v1/me')
  await world.clock.advance(1)
  const after = await world.api(key).get('/v1/me')

  assert.equal(before.status, 200)
  assert.deepEqual(codeOf(after), [401, 'api_key_expired'])
})

test('revocation, suspension and a new allowlist apply at once in their process, and within five seconds elsewhere', async (t) => {
  const world = await startWorld(t)
  const { accounts } = world.services
  const account = await world.account()
  await account.api.get('/v1/me')

  await accounts.setAllowlist(account.key_id, ['198.51.100.7'])
  const fenced = await account.api.get('/v1/me')
  await accounts.setAllowlist(account.key_id, ['127.0.0.1'])
  const allowed = await account.api.get('/v1/me')
  await world.pool`update accounts set suspended_at = created_at where id = ${account.id}`
  await world.clock.advance(5_000)
  const late = await account.api.get('/v1/me')
  await accounts.reinstate(account.id)
  const again = await account.api.get('/v1/me')
  await accounts.revokeKey(account.key_id)
  const revoked = await account.api.get('/v1/me')

  assert.deepEqual([fenced, late, revoked].map(codeOf), [
    [403, 'ip_not_allowed'],
    [403, 'account_suspended'],
    [401, 'api_key_revoked'],
  ])
  assert.deepEqual([allowed.status, again.status], [200, 200])
})

test('a busy process without notifications refuses a revoked key within five seconds', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const deaf = await startProcess(t, world, 'deaf')
  const ask = () => deaf.api(account.key).get('/v1/me')
  await ask()

  await world.services.accounts.revokeKey(account.key_id)
  let passed_ms = 0
  for (; passed_ms < 5_000 && (await ask()).status === 200; passed_ms += 250) await world.clock.advance(250)
  const late = await ask()

  assert.deepEqual(codeOf(late), [401, 'api_key_revoked'])
  assert.ok(passed_ms < 5_000)
})

test('X-Forwarded-For counts only from a trusted proxy, and is read from the right', async (t) => {
  const trusting = await startWorld(t, { settings: { trusted_proxies: ['127.0.0.1', '10.0.0.0/8'] } })
  const distrusting = await startWorld(t)
  const ask = async (world: typeof trusting, forwarded: string) => {
    const account = await world.account({ ip_allowlist: ['203.0.113.9'] })
    return (await account.api.get('/v1/me', { 'x-forwarded-for': forwarded })).status
  }

  const answers = await Promise.all([
    ask(trusting, '203.0.113.9'),
    ask(trusting, '198.51.100.1, 203.0.113.9, 10.1.2.3'),
    ask(trusting, '203.0.113.9, 198.51.100.1'),
    ask(trusting, '203.0.113.9:4711'),
    ask(distrusting, '203.0.113.9'),
  ])

  assert.deepEqual(answers, [200, 200, 403, 200, 403])
})

test('a missing scope is named before the body is checked', async (t) => {
  const world = await startWorld(t)
  const account = await world.account({ scopes: ['messages:read'] })

  const answer = await account.api.post('/v1/messages', '{ not json')

  assert.deepEqual(codeOf(answer), [403, 'scope_missing'])
  assert.match(answer.body.error.message, /messages:write/)
  assert.equal(answer.headers['ratelimit-limit'], '1000000')
})

test('a scope given twice is stored once', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account({ scopes: ['events:read', 'messages:read', 'events:read'] })

  assert.deepEqual((await api.get('/v1/me')).body.api_key.scopes, ['events:read', 'messages:read'])
})

test('a live-only operation refuses a test key, and a test-only one a live key', async (t) => {
  const world = await startWorld(t)
  const [test_, live] = [await world.account(), await world.account({ mode: 'live' })]

  const answers = await Promise.all([
    test_.api.post('/v1/channels', '{'),
    live.api.post('/v1/test/inbound_messages', '{'),
  ])

  assert.deepEqual(answers.map(codeOf), [
    [403, 'live_mode_required'],
    [403, 'test_mode_required'],
  ])
})

test('an account has at most fifty unrevoked keys, also with concurrent creation', async (t) => {
  const world = await startWorld(t)
  const { accounts } = world.services
  const account = await world.account()

  const made = await Promise.allSettled(
    Array.from({ length: 60 }, () => accounts.createKey({ account_id: account.id, mode: 'live' })),
  )

  assert.equal(made.filter((one) => one.status === 'fulfilled').length, 49)
  assert.ok(made.every((one) => one.status === 'fulfilled' || one.reason instanceof Problem))
})

test('suspending an account a second time changes nothing', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()

  const first = await world.services.accounts.suspend(account.id)
  const second = await world.services.accounts.suspend(account.id)

  assert.notEqual(first.suspended_at, null)
  assert.equal(second.suspended_at, first.suspended_at)
})
