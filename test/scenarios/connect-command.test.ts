/** `posthorn channels …` with questions and with a file (behaviour: command-line 6). */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { groups } from '../../src/cli/groups.ts'
import { runCli } from '../../src/cli/program.ts'
import type { Question } from '../../src/cli/terminal.ts'
import { questions } from '../../src/cli/terminal.ts'
import { closing } from '../support/closing.ts'
import { testDatabase } from '../support/database.ts'
import { serviceProcess } from '../support/service.ts'
import { simulateVonage } from '../support/simulators/vonage.ts'
import { within } from '../support/waiting.ts'

const secret = 'S3CRET-of-the-provider'

async function installation(t: TestContext, settings: Readonly<Record<string, string>> = {}) {
  const database = await testDatabase()
  closing(t, () => database.drop())
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-'))
  closing(t, () => rm(folder, { recursive: true, force: true }))
  const env = {
    DATABASE_URL: database.url,
    POSTHORN_DATA_DIR: folder,
    POSTHORN_LOG_LEVEL: 'trace',
    POSTHORN_SIMULATOR: 'true',
    ...settings,
  }
  const asked: Question[] = []
  /** `answers`: by the end of their question; undefined: no terminal. */
  const run = async (argv: readonly string[], answers?: Readonly<Record<string, string>>) => {
    let [out, err] = ['', '']
    const ask = async (question: Question) => {
      asked.push(question)
      return Object.entries(answers!).find(([end]) => question.text.endsWith(`${end}: `))?.[1] ?? ''
    }
    const terminal = {
      env,
      out: (text: string) => void (out += text),
      err: (text: string) => void (err += text),
      ...(answers === undefined ? {} : { ask }),
    }
    const code = await runCli(argv, terminal, groups)
    return { code, out, err, json: argv.includes('--json') && out !== '' ? JSON.parse(out) : undefined }
  }
  const file = async (content: object | string) => {
    const path = join(folder, 'credentials.json')
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content))
    return path
  }
  return { run, file, folder, env, asked }
}

test('a generated verify token is printed once, with the address for it and the guide', async (t) => {
  const account = { api_key: 'abcd1234', api_secret: secret }
  const vonage = await simulateVonage(t, { ...account, reach: (url) => url })
  const { run, file } = await installation(t, {
    POSTHORN_VONAGE_URL: vonage.url,
    POSTHORN_BASE_URL: 'https://messages.example.com',
  })
  await run(['accounts', 'create', '--name', 'Ada GmbH'])
  const connect = async (identifier: string, ...more: string[]) =>
    run([
      'channels',
      'connect',
      '--provider',
      'vonage',
      '--file',
      await file(account),
      '--identifier',
      identifier,
      ...more,
    ])

  const printed = await connect('+4915100000001')
  const json = await connect('+4915100000002', '--json')
  const listed = await run(['channels', 'list', '--json'])

  const token = /verify_token {2}([\w-]{32})\n/.exec(printed.out)?.[1]
  assert.ok(token !== undefined, printed.out + printed.err)
  assert.match(printed.out, /Store the verify_token now: it is not shown again\./)
  assert.match(printed.out, /\(https:\/\/messages\.example\.com\/docs\/guides\/vonage\)/)
  assert.match(json.json.verify_token, /^[\w-]{32}$/)
  assert.equal(listed.json.length, 2)
  for (const word of [token, json.json.verify_token, secret]) assert.equal(listed.out.includes(word), false)
  assert.doesNotMatch(printed.out + printed.err + json.out, new RegExp(secret))
})

test('on a terminal each field is asked for by its label, secrets are hidden, and the connected channel is shown', async (t) => {
  const { run, asked } = await installation(t)
  await run(['accounts', 'create', '--name', 'Ada GmbH'])
  const answers = {
    'Kind of channel (whatsapp, sms, telegram)': 'sms',
    'Sender (the number or name that recipients see)': '+4915100000001',
    'refuse (optional)': 'no',
    'callback_secret (optional)': secret,
  }

  const providers = (await run(['channels', 'providers', '--json'])).json as { name: string }[]
  const connected = await run(['channels', 'connect'], {
    ...answers,
    [`Provider (${providers.map(({ name }) => name).join(', ')})`]: 'simulator',
  })
  const listed = await run(['channels', 'list', '--json'])

  assert.deepEqual([connected.code, connected.err], [0, ''])
  assert.match(connected.out, /webhook_url {3}http:\/\/127\.0\.0\.1:8080\/hooks\/channels\/ch_\w{26}\n/)
  assert.deepEqual(asked.map(({ text, hidden }) => [text.split('\n').at(-1), hidden]).slice(-2), [
    ['refuse (optional): ', false],
    ['callback_secret (optional): ', true],
  ])
  assert.match(asked.at(-1)!.text, /Callback secret: Key of the hex HMAC-SHA256/)
  assert.deepEqual([listed.json[0].identifier, listed.json[0].name], ['+4915100000001', 'Simulator'])
  assert.doesNotMatch(connected.out + listed.out, new RegExp(secret))
})

test("with a file nothing is asked, and all errors are reported at once without the file's content", async (t) => {
  const { run, file } = await installation(t)
  const connect = (path: string, ...more: string[]) =>
    run(['channels', 'connect', '--provider', 'simulator', '--type', 'sms', '--file', path, ...more])
  const none = await connect(await file({ callback_secret: secret }))
  await run(['accounts', 'create', '--name', 'One'])
  const two = (await run(['accounts', 'create', '--name', 'Two', '--json'])).json.id as string
  const there = ['--identifier', '+4915100000001', '--account', two]

  const refusals = [
    none,
    await connect(await file({ callback_secret: secret }), '--identifier', '+4915100000001'),
    await connect(await file({ callback_secret: secret }), '--account', 'acc_none'),
    await connect('/nowhere.json', ...there),
    await connect(await file(`{"callback_secret": ${secret}}`), ...there),
    await connect(await file([secret]), ...there),
    await connect(await file({ callback_secret: [secret], refuse: secret }), ...there),
    await connect(await file({ callback_secret: secret, refuse: true }), ...there),
    await run(['channels', 'connect', '--provider', 'pigeon', '--account', two]),
    await run(['channels', 'connect', '--account', two]),
    await run(['channels', 'connect', '--provider', 'simulator', '--type', 'sms', ...there]),
    await connect(await file({ callback_secert: secret }), ...there),
  ]
  const whole = await file({
    name: 'Alerts',
    identifier: '+4915100000001',
    credentials: { callback_secret: secret },
    settings: { max_messages_per_second: 5 },
  })
  const connected = await connect(whole, '--account', two, '--json')
  const again = await connect(whole, '--account', two, '--json')

  assert.deepEqual(
    refusals.map(({ code, out, err }) => [code, out, err.split('\n', 1)[0]]),
    [
      'There are no accounts. Create one with `posthorn accounts create --name N`.',
      'There are several accounts. Choose one of `posthorn accounts list` with --account.',
      'No account has the id "acc_none". `posthorn accounts list` shows them.',
      '/nowhere.json cannot be read: ENOENT.',
      ...[4, 5].map((at) => refusals[at]!.err.split('\n', 1)[0]!),
      'The channel cannot be connected. Correct these fields:',
      'The provider refused the credentials: The simulated provider refuses these credentials. Correct them and try again; nothing was changed.',
      ...[8, 9, 10, 11].map((at) => refusals[at]!.err.split('\n', 1)[0]!),
    ].map((sentence, at) => [at >= 8 && at <= 10 ? 2 : 1, '', sentence]),
  )
  for (const at of [4, 5]) assert.match(refusals[at]!.err, /does not contain a JSON object/)
  assert.match(refusals[8]!.err, /Unknown provider "pigeon"\. Use one of /)
  assert.match(refusals[9]!.err, /The provider is missing\. Add --provider with one of /)
  assert.match(
    refusals[11]!.err,
    /`credentials\.callback_secert` is not known to Simulator\. Did you mean `callback_secret`\? It takes refuse, callback_secret\./,
  )
  assert.match(refusals[10]!.err, /The credentials are missing\. Add --file/)
  assert.deepEqual(
    [connected.code, connected.json.name, connected.json.settings.max_messages_per_second],
    [0, 'Alerts', 5],
  )
  assert.deepEqual([connected.json.object, connected.json.test_message, connected.json.guide], ['channel', null, null])
  assert.deepEqual([again.code, again.out], [1, ''])
  assert.match(again.err, /already connected/)
  assert.doesNotMatch(JSON.stringify([...refusals, connected, again]), new RegExp(secret))
})

test('beside a running service the test message is sent and followed; if it cannot be sent, the channel remains', async (t) => {
  const { run, file, folder, env } = await installation(t)
  const service = await serviceProcess(folder, env)
  closing(t, () => service.stop())
  await service.start()
  const path = await file({ callback_secret: secret })
  const connect = (...more: string[]) =>
    run(['channels', 'connect', '--provider', 'simulator', '--type', 'sms', '--file', path, ...more])
  const [{ id }] = (await run(['accounts', 'list', '--json'])).json as [{ id: string }]

  const broke = await connect('--identifier', '+4915100000001', '--test-to', '+4915112345678')
  await run(['wallet', 'credit', '--account', id, '--amount-micros', '1000000'])
  const delivered = await connect('--identifier', '+4915100000002', '--test-to', '+4915112345678', '--json')
  const failed = await connect('--identifier', '+4915100000003', '--test-to', '+19995550001')
  const wrong = await connect('--identifier', '+4915100000004', '--test-to', 'nobody', '--json')
  const bot = ['--provider', 'simulator', '--type', 'telegram', '--identifier', 'shop_bot', '--test-to', '+19995550005']
  const untold = await within(
    'the end of a message of which nothing more comes',
    run(['channels', 'connect', ...bot, '--file', path]),
  )
  const channels = (await run(['channels', 'list', '--json'])).json as object[]
  const everything =
    [broke, delivered, failed, wrong, untold].map(({ out, err }) => out + err).join('\n') + service.errors()

  assert.equal(broke.code, 1)
  assert.match(broke.err, /^The test message was refused: .* Credit the wallet with `posthorn wallet credit`.*\n$/)
  assert.deepEqual([delivered.code, delivered.json.test_message.status], [0, 'delivered'])
  assert.match(delivered.err, /test message: delivered/)
  assert.deepEqual(
    [failed.code, /The test message failed: The simulated provider rejected the message\./.test(failed.err)],
    [1, true],
  )
  assert.deepEqual([wrong.code, wrong.json.test_message.error.code], [1, 'parameter_invalid'])
  assert.match(wrong.err, /^The test message was refused: .*\n$/)
  assert.match(untold.out, /The test message is sent\. Check the phone: Telegram does not report deliveries\./)
  assert.equal(channels.length, 5)
  assert.doesNotMatch(everything, new RegExp(secret))
})

test('a typed secret is not shown, and the end of input refuses', async () => {
  const [input, shown] = [new PassThrough(), new PassThrough()]
  const ask = questions(input as unknown as NodeJS.ReadStream, shown as unknown as NodeJS.WriteStream)
  const answered = async (text: string, hidden: boolean, typed: string) => {
    const answer = ask({ text, hidden })
    input.write(`${typed}\r`)
    return await within('the answer', answer)
  }

  const answers = [await answered('Name: ', false, 'Ada'), await answered('Token: ', true, secret)]
  const ending = ask({ text: 'More: ', hidden: false })
  input.end()

  assert.deepEqual(answers, ['Ada', secret])
  await assert.rejects(within('the end of the input', ending), /The input ended: nothing was changed/)
  const seen = String(shown.read())
  assert.match(seen, /Name: .*Ada[\s\S]*Token: /)
  assert.doesNotMatch(seen, new RegExp(secret))
})
