/** `posthorn trigger` and `posthorn events tail` (behaviour: command-line 10). */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { groups } from '../../src/cli/groups.ts'
import { runCli } from '../../src/cli/program.ts'
import { eventTypes } from '../../src/api/events.ts'
import { closing } from '../support/closing.ts'
import { testDatabase } from '../support/database.ts'
import { rawReceiver, respond } from '../support/raw-receiver.ts'
import { serviceProcess } from '../support/service.ts'
import { within } from '../support/waiting.ts'
import { program } from '../support/program.ts'

async function start(t: TestContext) {
  const database = await testDatabase()
  closing(t, () => database.drop())
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-'))
  closing(t, () => rm(folder, { recursive: true, force: true }))
  const receiver = await rawReceiver(t, respond(200))
  const settings = {
    DATABASE_URL: database.url,
    POSTHORN_LOG_LEVEL: 'error',
    POSTHORN_WEBHOOK_ALLOWED_HOSTS: receiver.host,
  }
  const service = await serviceProcess(folder, settings)
  closing(t, () => service.stop())
  await service.start()
  const own = { ...settings, POSTHORN_DATA_DIR: folder, XDG_CONFIG_HOME: folder, POSTHORN_BASE_URL: service.base_url }
  const command = async (env: Record<string, string>, argv: readonly string[]) => {
    let [out, err] = ['', '']
    const terminal = { env, out: (text: string) => void (out += text), err: (text: string) => void (err += text) }
    const code = await within(argv.join(' '), runCli(argv, terminal, groups))
    return { code, out, err, json: argv.includes('--json') && out !== '' ? JSON.parse(out) : undefined }
  }
  const [account] = (await command(own, ['accounts', 'list', '--json'])).json
  const keyOf = async (mode: string): Promise<string> =>
    (await command(own, ['keys', 'create', '--account', account.id, '--mode', mode, '--json'])).json.key
  const key = await keyOf('test')
  const live = { ...own, POSTHORN_API_KEY: await keyOf('live') }
  const run = (...argv: string[]) => command({ ...own, POSTHORN_API_KEY: key }, argv)
  const env = { ...own, POSTHORN_API_KEY: key, PATH: process.env['PATH'] ?? '' }
  return { receiver, env, api: service.api(key), run, runLive: (...argv: string[]) => command(live, argv) }
}

test('each event of test mode can be triggered and followed; the others explain why not', async (t) => {
  const { receiver, api, run, runLive } = await start(t)
  const none = await run('trigger', 'webhook.test')
  const endpoint = (
    await api.post('/v1/webhook_endpoints', { url: `http://${receiver.host}/in`, events: ['message.read'] })
  ).body.id
  const impossible = [
    'channel.connected',
    'channel.disconnected',
    'balance.low',
    'package.exhausted',
    'package.expiring',
  ]
  const first = await run('trigger', 'message.received', '--json')
  // starts after an existing event, so it sees all later ones
  const after = ['--starting-after', first.json.id]
  const tail = run('events', 'tail', ...after, '--events', 'message.read,campaign.*', '--count', '5')

  for (const type of Object.keys(eventTypes)) {
    const { code, err, json } = await run('trigger', type, '--json')
    if (impossible.includes(type))
      assert.match(err, new RegExp(`^${type} cannot be triggered: .*; in live mode it follows `))
    assert.deepEqual([code, json?.type], impossible.includes(type) ? [1, undefined] : [0, type], `${type}: ${err}`)
  }
  const followed = await tail
  const json = await run('events', 'tail', ...after, '--events', 'webhook.test', '--count', '1', '--json')
  const full = await run('events', 'tail', ...after, '--events', 'message.*', '--count', '2', '--full')
  const refused = await runLive('trigger', 'message.sent')

  assert.deepEqual([none.code, none.err.startsWith('There is no webhook endpoint')], [1, true])
  assert.equal(followed.code, 0)
  const [read, ...campaigns] = followed.out.trimEnd().split('\n')
  assert.match(read!, /^\d{4}-\S+Z {2}message\.read {10}evt_\w+ {2}msg_\w+ {2}read$/)
  for (const line of campaigns)
    assert.match(
      line,
      / {2}campaign\.(started|paused|completed|failed) +evt_\w+ {2}cmp_\w+ {2}\w+ {2}posthorn trigger$/,
    )
  assert.deepEqual([json.json.length, json.json[0].type, json.json[0].data.object.id], [1, 'webhook.test', endpoint])
  assert.deepEqual(
    full.out
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { object: string }).object),
    ['event', 'event'],
  )
  assert.deepEqual(
    [refused.code, refused.err],
    [1, 'Events can only be triggered in test mode. Use a key that starts with svc_test_.\n'],
  )
  await receiver.arrived(1)
})

test('an unknown feed position, an unknown type and a key without permission end the command', async (t) => {
  const { run } = await start(t)

  const nowhere = await run('events', 'tail', '--starting-after', 'evt_nowhere', '--json')
  const unknown = await run('events', 'tail', '--events', 'message.lost')
  const near = await run('events', 'tail', '--events', 'mesage.*')
  const misspelt = await run('trigger', 'message.recieved')
  const [short, far, none] = [
    await run('trigger', 'delivered'),
    await run('trigger', 'x'.repeat(5_000)),
    await run('trigger'),
  ]
  const help = await run('trigger', '--help')
  const wrong = await run('events', 'tail', '--api-key', 'svc_test_wrong')

  assert.deepEqual(
    [nowhere.code, nowhere.out, nowhere.err],
    [1, '', 'No event has the id "evt_nowhere". Choose another --starting-after.\n'],
  )
  assert.deepEqual(
    [unknown, near, misspelt, short, far, none].map(({ code }) => code),
    [2, 2, 2, 2, 2, 2],
  )
  assert.match(near.err, /Did you mean message\.\*\?/)
  assert.match(misspelt.err, /Did you mean message\.received\? Event types: message\.sent, .*webhook\.test\./)
  assert.match(short.err, /Did you mean message\.delivered\?/)
  assert.doesNotMatch(far.err, /Did you mean/)
  for (const type of Object.keys(eventTypes))
    for (const text of [far.err, none.err, help.out]) assert.ok(text.includes(type), type)
  assert.deepEqual([wrong.code, wrong.err.includes('(401)')], [1, true])
})

test('a command whose output is closed ends quietly', async (t) => {
  const { receiver, api, env, run } = await start(t)
  const send = () =>
    api.post('/v1/messages', { channel: 'ch_test_sms', to: '+15005550006', type: 'text', text: { body: 'Hi' } })
  const { id: first, data } = (await run('trigger', 'message.sent', '--json')).json
  const message: string = data.object.id
  const [node = '', ...main] = program
  const begin = (...argv: string[]) => {
    const child = spawn(node, [...main, ...argv], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    closing(t, () => void child.kill('SIGKILL'))
    return { child, ended: Promise.all([text(child.stderr), once(child, 'exit')]) }
  }

  const tail = begin('events', 'tail', '--starting-after', first)
  assert.equal((await send()).status, 202)
  await within('an event to be shown', once(tail.child.stdout, 'data'))
  tail.child.stdout.destroy()
  const listen = begin('listen', '--forward-to', `http://${receiver.host}/in`, '--events', 'message.sent')
  await within('its place in the feed to be reported', once(listen.child.stdout, 'data'))
  listen.child.stdout.destroy()
  const others = [
    listen,
    begin('events', 'tail', '--help'),
    begin('accounts', 'list', '--json'),
    begin('messages', 'list'),
    begin('messages', 'get', message),
    begin('trigger', 'message.read'),
  ]
  for (const { child } of others) child.stdout.destroy()
  assert.equal((await send()).status, 202)

  for (const { ended } of [tail, ...others])
    assert.deepEqual(await within('the command to end', ended), ['', [0, null]])
})
