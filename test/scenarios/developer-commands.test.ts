/** Commands that call the service with an API key (behaviour: command-line 8, 9). */
import assert from 'node:assert/strict'
import { chmod, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { groups } from '../../src/cli/groups.ts'
import { runCli } from '../../src/cli/program.ts'
import type { Question } from '../../src/cli/terminal.ts'
import { readConfig } from '../../src/config/config.ts'
import { closing } from '../support/closing.ts'
import { rawReceiver, respond } from '../support/raw-receiver.ts'
import { startWorld } from '../support/world.ts'

type Env = Readonly<Record<string, string>>

async function runWith(env: Env, argv: readonly string[], answer?: string) {
  let [out, err] = ['', '']
  const asked: Question[] = []
  const ask = async (question: Question) => {
    asked.push(question)
    return answer!
  }
  const terminal = {
    env,
    out: (text: string) => void (out += text),
    err: (text: string) => void (err += text),
    ...(answer === undefined ? {} : { ask }),
  }
  const code = await runCli(argv, terminal, groups)
  return { code, out, err, asked, json: argv.includes('--json') && out !== '' ? JSON.parse(out) : undefined }
}

async function start(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'home-'))
  closing(t, () => rm(folder, { recursive: true }))
  const world = await startWorld(t)
  const account = await world.account({ name: 'Ada GmbH' })
  const env = { XDG_CONFIG_HOME: folder }
  const withKey = { ...env, POSTHORN_API_KEY: account.key, POSTHORN_BASE_URL: world.base_url }
  return {
    world,
    account,
    env,
    file: join(folder, 'posthorn/login.json'),
    run: (...argv: string[]) => runWith(withKey, argv),
  }
}

const hello = ['--channel', 'ch_test_whatsapp', '--to', '+15005550006', '--text', 'Hello']

test('login hides the typed key, tests it, stores it for its user only, and other commands use it until logout', async (t) => {
  const { world, account, env, file } = await start(t)

  const login = await runWith(env, ['login', '--base-url', `${world.base_url}/`], account.key)
  const mode = (await stat(file)).mode & 0o777
  const sent = await runWith(env, ['send', ...hello, '--json'])
  const logout = await runWith(env, ['logout', '--json'])
  const again = await runWith(env, ['logout', '--json'])
  const without = await runWith(env, ['send', ...hello])

  assert.deepEqual(
    [login.code, login.err, login.asked],
    [0, '', [{ text: `API key for ${world.base_url}: `, hidden: true }]],
  )
  assert.equal(
    login.out,
    `Logged in to Ada GmbH (${account.id}) at ${world.base_url}, test mode. The key is stored in ${file}.\n`,
  )
  assert.equal(mode, 0o600)
  assert.equal((await account.api.get(`/v1/messages/${sent.json.id}`)).body.to, '+15005550006')
  assert.deepEqual([logout.json.removed, again.json.removed], [true, false])
  assert.deepEqual(
    [without.code, without.err],
    [2, 'An API key is required. Run `posthorn login` once, set POSTHORN_API_KEY, or give --api-key.\n'],
  )
})

test('a refused key is not stored, and without a terminal nothing is asked', async (t) => {
  const { world, account, env, file } = await start(t)
  const wrong = `${account.key.slice(0, -1)}${account.key.endsWith('x') ? 'y' : 'x'}`

  const refused = await runWith(env, ['login', '--base-url', world.base_url, '--api-key', wrong])
  const empty = await runWith(env, ['login', '--base-url', world.base_url], ' ')
  const nobody = await runWith(env, ['login', '--base-url', world.base_url])

  assert.equal(refused.code, 1)
  assert.match(refused.err, /\(401 api_key_invalid, request req_\w+\)\n$/)
  assert.deepEqual([empty.code, nobody.code], [2, 2])
  await assert.rejects(stat(file), { code: 'ENOENT' })
})

test('a stored key is sent only to its own service, and not used if others can read it', async (t) => {
  const { world, account, env, file } = await start(t)
  const stranger = await rawReceiver(t, respond(200))
  const login = await runWith(env, ['login', '--base-url', world.base_url, '--api-key', account.key, '--json'])

  const elsewhere = await runWith(env, ['messages', 'list', '--base-url', `http://${stranger.host}`])
  const set = await runWith({ ...env, POSTHORN_BASE_URL: `http://${stranger.host}` }, ['messages', 'list', '--json'])
  await chmod(file, 0o644)
  const readable = await runWith(env, ['messages', 'list'])

  assert.deepEqual(
    [login.json.account_id, login.json.mode, JSON.stringify(login.json).includes(account.key)],
    [account.id, 'test', false],
  )
  assert.equal(elsewhere.code, 1)
  assert.match(elsewhere.err, /is for http:\S+, and is sent nowhere else/)
  assert.deepEqual([set.code, set.json], [0, []])
  assert.equal(stranger.requests.length, 0)
  assert.deepEqual([readable.code, readable.err.includes('Others can read')], [1, true])
  assert.equal(JSON.parse(await readFile(file, 'utf8')).key, account.key)
})

test("an option overrides the environment, and the key in the environment does not prevent the service's start", async (t) => {
  const { world, account, env } = await start(t)
  const other = await world.account({ name: 'Other' })
  const both = { ...env, POSTHORN_API_KEY: other.key, POSTHORN_BASE_URL: 'http://127.0.0.1:9' }

  const login = await runWith(both, ['login', '--api-key', account.key, '--base-url', world.base_url, '--json'])
  const unset = await runWith(both, ['messages', 'list', '--api-key', ''])

  assert.equal(login.json.account_id, account.id)
  assert.deepEqual([unset.code, unset.out], [2, ''])
  assert.doesNotThrow(() => readConfig(both))
})

test("messages are sent, shown and listed, with the API's own JSON", async (t) => {
  const { world, account, run } = await start(t)

  const text = await run('send', ...hello, '--reference', 'order-1', '--metadata', '{"shop":"Wien"}', '--json')
  const content = ['--type', 'location', '--content', '{"latitude":48.2,"longitude":16.4}']
  const typed = await run('send', '--channel', 'ch_test_whatsapp', '--to', '+15005550001', ...content)
  await world.settle()
  const got = await run('messages', 'get', text.json.id, '--json')
  const shown = await run('messages', 'get', text.json.id)
  const failed = await run('messages', 'list', '--status', 'failed')
  const listed = await run(
    'messages',
    'list',
    '--limit',
    '1',
    '--starting-after',
    /msg_\w+/.exec(typed.out)![0],
    '--json',
  )

  assert.deepEqual(
    [text.code, text.json.status, text.json.reference, text.json.metadata],
    [0, 'queued', 'order-1', { shop: 'Wien' }],
  )
  assert.match(
    typed.out,
    /^msg_\w+ {2}queued .* whatsapp location to \+15005550001\n\nFollow it with posthorn messages get msg_\w+\./,
  )
  assert.deepEqual(got.json, (await account.api.get(`/v1/messages/${text.json.id}`)).body)
  assert.match(shown.out, /order-1\n[^]* sent_at /)
  assert.match(failed.out, /^msg_\w+ {2}failed .* to \+15005550001 {2}provider_error: [^\n]+\n$/)
  assert.deepEqual(
    listed.json.map(({ id }: { id: string }) => id),
    [text.json.id],
  )
})

test('a refusal shows its code, request id and each error; wrong usage has another exit code', async (t) => {
  const { run } = await start(t)

  const blocked = await run('send', '--channel', 'ch_test_sms', '--to', '+15005550004', '--text', 'Hello')
  const several = await run(
    'send',
    '--channel',
    'ch_test_sms',
    '--to',
    '',
    '--type',
    'text',
    '--content',
    '{}',
    '--reference',
    'x'.repeat(300),
  )
  const missing = await run('messages', 'get', 'msg_/../../healthz')
  const both = await run('send', ...hello, '--type', 'text')
  const noJson = await run('send', '--channel', 'c', '--to', 't', '--type', 'text', '--content', '[1]')
  const status = await run('messages', 'list', '--status', 'lost')

  assert.deepEqual([blocked.code, blocked.out], [1, ''])
  assert.match(blocked.err, /\(422 recipient_blocked, request req_\w+\)\n$/)
  assert.match(several.err, /\(400 parameter_\w+, request req_\w+\)\n {2}\w+: /)
  assert.match(missing.err, /\(404 resource_missing, /)
  assert.deepEqual([both.code, noJson.code, status.code], [2, 2, 2])
})

test('one idempotency key sends once; without an answer the command prints the key for a retry', async (t) => {
  const { account, env, run } = await start(t)
  const silent = await rawReceiver(t, (socket) => void socket.destroy())
  const first = await run('send', ...hello, '--idempotency-key', 'order-1', '--json')
  const second = await run('send', ...hello, '--idempotency-key', 'order-1', '--json')

  const lost = await runWith({ ...env, POSTHORN_API_KEY: account.key }, [
    'send',
    ...hello,
    '--base-url',
    `http://${silent.host}`,
  ])
  const nobody = await runWith({ ...env, POSTHORN_API_KEY: account.key }, [
    'send',
    ...hello,
    '--base-url',
    'http://127.0.0.1:9',
  ])

  assert.equal(second.json.id, first.json.id)
  assert.equal(lost.code, 1)
  const key = /--idempotency-key ([\w-]{36}), which never sends it twice/.exec(lost.err)?.[1]
  assert.ok(key !== undefined && silent.requests.every((request) => request.includes(key)), lost.err)
  assert.match(nobody.err, /cannot be reached/)
})

test('a server that is not the service is reported', async (t) => {
  const { account, env } = await start(t)
  const stranger = await rawReceiver(t, respond(200))

  const list = await runWith({ ...env, POSTHORN_API_KEY: account.key }, [
    'webhooks',
    'list',
    '--base-url',
    stranger.host,
  ])

  assert.deepEqual([list.code, list.err.includes('(status 200) is not a Posthorn service')], [1, true])
})

test('webhook endpoints are listed, without their secrets', async (t) => {
  const { account, run } = await start(t)
  const none = await run('webhooks', 'list')
  const made = await account.api.post('/v1/webhook_endpoints', {
    url: 'https://example.com/hook',
    events: ['message.sent'],
  })

  const listed = await run('webhooks', 'list')
  const json = await run('webhooks', 'list', '--json')

  assert.equal(none.out, 'There are none.\n')
  assert.equal(listed.out, `${made.body.id}  active    https://example.com/hook  message.sent\n`)
  assert.deepEqual(json.json, (await account.api.get('/v1/webhook_endpoints')).body.data)
  assert.equal(json.out.includes('whsec_'), false)
})

test("foreign names and texts cannot move the terminal's cursor, as text and as JSON", async (t) => {
  const { world, account, run } = await start(t)
  // stored by an earlier version: such names are refused now
  await world.pool`update accounts set name = ${'Ada\u001B[2J \u009B1m\u202Egbh'} where id = ${account.id}`
  const reference = 'order\u001B]0;owned\u0007\u202E'
  const { body } = await account.api.post('/v1/messages', {
    channel: 'ch_test_sms',
    to: '+15005550006',
    type: 'text',
    text: { body: 'Hi\u001B[31m' },
    reference,
  })
  assert.equal(body.reference, reference)
  await account.api.post('/v1/test/inbound_messages', {
    channel: 'ch_test_sms',
    from: '+4915112345678\u001B[1m',
    text: { body: '\u009B' },
  })
  await world.settle()
  const { id: before } = (await account.api.get('/v1/events')).body.data.at(-1)
  const tail = ['events', 'tail', '--starting-after', before, '--count', '1']

  const printed = [
    await run('messages', 'list'),
    await run('messages', 'list', '--json'),
    await run('messages', 'get', body.id),
    await run('messages', 'get', body.id, '--json'),
    await run(...tail),
    await run(...tail, '--full'),
    await run(...tail, '--json'),
    await run('login', '--api-key', account.key),
    await run('send', '--channel', 'ch_\u001B[1m', '--to', '+15005550006', '--text', 'Hi'),
  ]

  // oxlint-disable-next-line no-control-regex
  for (const { out, err } of printed)
    assert.doesNotMatch(out + err, /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u202A-\u202E]/)
  assert.deepEqual(printed[3]!.json, (await account.api.get(`/v1/messages/${body.id}`)).body)
  assert.match(printed[2]!.out, /order\\u001b\]0;owned\\u0007\\u202e/)
})
