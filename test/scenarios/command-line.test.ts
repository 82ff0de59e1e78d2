/** Command line and configuration (behaviour: command-line 1, 2, 3; configuration 1). */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, readdir, rm, stat } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test, { type TestContext } from 'node:test'
import { groups } from '../../src/cli/groups.ts'
import { runCli } from '../../src/cli/program.ts'
import { apiClient } from '../support/api.ts'
import { consoleClient } from '../support/console-api.ts'
import { testDatabase } from '../support/database.ts'
import { fullDatabase, fullMessage } from '../support/full-database.ts'
import { testPool } from '../support/pool.ts'
import { program } from '../support/program.ts'
import { until, within } from '../support/waiting.ts'

interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any
}

async function installation(t: TestContext) {
  const database = await testDatabase()
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  t.after(() => database.drop())
  const env: Record<string, string> = {
    PATH: process.env['PATH'] ?? '',
    DATABASE_URL: database.url,
    POSTHORN_DATA_DIR: folder,
    PORT: '0',
    POSTHORN_LOG_LEVEL: 'error',
  }
  const run = async (...argv: string[]): Promise<Ran> => await runWith(env, argv)
  return { env, folder, run }
}

async function runWith(env: Record<string, string>, argv: readonly string[]): Promise<Ran> {
  let [out, err] = ['', '']
  const code = await runCli(argv, { env, out: (text) => void (out += text), err: (text) => void (err += text) }, groups)
  return { code, out, err, json: argv.includes('--json') && out !== '' ? JSON.parse(out) : undefined }
}

test('accounts and keys are created, listed, changed and revoked; each command prints one JSON value', async (t) => {
  const { run } = await installation(t)

  const account = await run('accounts', 'create', '--name', 'Ada GmbH', '--owner-email', 'ada@example.com', '--json')
  const id = account.json.id
  const key = await run(
    'keys',
    'create',
    '--account',
    id,
    '--mode',
    'live',
    '--name',
    'Shop',
    '--scopes',
    'messages:write,messages:read',
    '--expires-at',
    '2099-01-01',
    '--ip-allowlist',
    '192.0.2.0/24',
    '--json',
  )
  const keys = await run('keys', 'list', '--account', id, '--json')
  const revoked = await run('keys', 'revoke', key.json.id, '--json')
  const updated = await run(
    'accounts',
    'update',
    id,
    '--timezone',
    'Europe/Vienna',
    '--low-balance-micros',
    '5',
    '--default-country',
    'at',
    '--json',
  )
  const suspended = await run('accounts', 'suspend', id, '--json')
  const reinstated = await run('accounts', 'reinstate', id, '--json')
  const listed = await run('accounts', 'list')

  assert.deepEqual(
    [account, key, keys, revoked, updated, suspended, reinstated, listed].map(({ code, err }) => [code, err]),
    Array.from({ length: 8 }, () => [0, '']),
  )
  assert.match(id, /^acc_/)
  assert.match(key.json.key, /^svc_live_[0-9A-Za-z]{38}$/)
  assert.deepEqual(
    [key.json.scopes, key.json.expires_at, key.json.ip_allowlist],
    [['messages:write', 'messages:read'], '2099-01-01T00:00:00.000Z', ['192.0.2.0/24']],
  )
  assert.deepEqual(
    [keys.json[0].prefix, keys.json[0].last_four, keys.json[0].key],
    ['svc_live_', key.json.key.slice(-4), undefined],
  )
  assert.notEqual(revoked.json.revoked_at, null)
  assert.deepEqual([updated.json.timezone, updated.json.default_country], ['Europe/Vienna', 'AT'])
  assert.notEqual(suspended.json.suspended_at, null)
  assert.equal(reinstated.json.suspended_at, null)
  assert.match(listed.out, /Ada GmbH {2}AT/)
})

test('a refusal prints one line on standard error and exits with 1, wrong usage exits with 2; neither prints a result', async (t) => {
  const { run, env } = await installation(t)

  const refused = await Promise.all([
    run('accounts', 'suspend', 'acc_none', '--json'),
    run('keys', 'revoke', 'key_none'),
    run('keys', 'create', '--account', 'acc_none', '--mode', 'live'),
    run('accounts', 'create', '--name', '   '),
    run('accounts', 'create', '--name', 'x', '--owner-email', 'nonsense'),
    run('accounts', 'create', '--name', 'x', '--default-country', 'Germany'),
    runWith({ DATABASE_URL: 'postgres://x@127.0.0.1:1/x' }, ['doctor']),
    runWith({ DATABASE_URL: `${env['DATABASE_URL']!}?schema=public` }, ['accounts', 'list']),
    runWith({ POSTHORN_DATA_DIR: import.meta.filename }, ['accounts', 'list']),
    runWith({ DATABASE_URL: env['DATABASE_URL']!, POSTHORN_DATA_DIR: import.meta.filename }, ['accounts', 'list']),
  ])
  const misused = await Promise.all([
    run(),
    run('nonsense'),
    run('accounts'),
    run('keys', 'create'),
    run('keys', 'create', '--account', 'a', '--mode', 'both'),
    run('accounts', 'list', '--verbose'),
    run('accounts', 'list', 'more'),
    run('keys', 'create', '--account', 'a', '--mode', 'live', '--scopes', 'everything'),
    run('keys', 'create', '--account', 'a', '--mode', 'live', '--expires-at', 'soon'),
    run('serve', '--roles', 'king'),
    run('listen', '--key', 'svc_test_x', '--forward-to', 'http://localhost:1', '--events', 'massage.*'),
    run('wallet', 'credit', '--account', 'a', '--amount-micros', '1'.repeat(30)),
  ])

  assert.deepEqual(
    refused.map(({ code, out, err }) => [code, out, err.trimEnd().split('\n').length]),
    refused.map(() => [1, '', 1]),
  )
  assert.deepEqual(
    misused.map(({ code, out }) => [code, out]),
    misused.map(() => [2, '']),
  )
  assert.ok(misused.every(({ err }) => err !== ''))
})

test('--json works before and after the command', async (t) => {
  const { run } = await installation(t)
  await run('accounts', 'create', '--name', 'A')

  const [before, after] = await Promise.all([run('--json', 'accounts', 'list'), run('accounts', 'list', '--json')])

  assert.equal(after.json.length, 1)
  assert.deepEqual(before.json, after.json)
})

test("--version prints the package's version, as JSON if requested", async () => {
  const { version } = JSON.parse(await readFile(join(import.meta.dirname, '../../package.json'), 'utf8')) as {
    version: string
  }

  assert.deepEqual(await runWith({}, ['--version']), { code: 0, out: `${version}\n`, err: '', json: undefined })
  assert.deepEqual((await runWith({}, ['--version', '--json'])).json, { version })
})

test('help is one JSON value if requested', async () => {
  const plain = await runWith({}, ['keys', 'create', '--help'])

  assert.deepEqual((await runWith({}, ['keys', 'create', '--help', '--json'])).json, { help: plain.out })
})

test('a key with an expiry in the past is not created', async (t) => {
  const { run } = await installation(t)
  const account = await run('accounts', 'create', '--name', 'A', '--json')
  const create = (time: string) =>
    run('keys', 'create', '--account', account.json.id, '--mode', 'live', '--expires-at', time)

  const past = await create('2020-01-31')
  const future = await create('2999-01-31')
  const keys = await run('keys', 'list', '--account', account.json.id, '--json')

  assert.deepEqual([past.code, past.out], [1, ''])
  assert.match(past.err, /^A key that expires at 2020-01-31T00:00:00.000Z is of no use: that time has passed\.\n$/)
  assert.deepEqual([future.code, keys.json.length], [0, 1])
})

test('an empty list as an option is wrong usage', async (t) => {
  const { run } = await installation(t)
  const account = await run('accounts', 'create', '--name', 'A', '--json')
  const create = (...more: string[]) => run('keys', 'create', '--account', account.json.id, '--mode', 'live', ...more)
  const grant = (types: string) =>
    run('packages', 'grant', '--account', account.json.id, '--credits', '1', '--channel-types', types, '--json')

  const empty = [
    await create('--ip-allowlist', ''),
    await create('--ip-allowlist', ' , '),
    await create('--scopes', ''),
    await grant(''),
  ]
  const keys = await run('keys', 'list', '--account', account.json.id, '--json')
  const all = await create('--scopes', 'messages:read,all', '--json')
  const twice = await grant('sms,sms')

  assert.deepEqual(
    empty.map(({ code, out }) => [code, out]),
    empty.map(() => [2, '']),
  )
  assert.deepEqual(keys.json, [])
  assert.ok(all.json.scopes.includes('billing:read'))
  assert.deepEqual(twice.json.channel_types, ['sms'])
})

test('the list of keys marks expired keys', async (t) => {
  const { run, env } = await installation(t)
  const account = await run('accounts', 'create', '--name', 'A', '--json')
  await run('keys', 'create', '--account', account.json.id, '--mode', 'live', '--expires-at', '2999-01-31')
  const pool = testPool(env['DATABASE_URL']!, { max: 1 })
  const before = await run('keys', 'list', '--account', account.json.id)
  await pool`update api_keys set expires_at = '2020-01-31'`
  await pool.end()

  const after = await run('keys', 'list', '--account', account.json.id)

  assert.match(before.out, / usable /)
  assert.match(after.out, / expired /)
})

test('asking for help exits with 0', async (t) => {
  const { run } = await installation(t)

  const [all, one] = await Promise.all([run('--help'), run('keys', 'create', '--help')])

  assert.deepEqual([all.code, one.code], [0, 0])
  assert.match(one.out, /--ip-allowlist/)
})

test('all configuration errors are reported at once, without secrets', async () => {
  const env = {
    DATABASE_URL: 'mysql://user:hunter2@x/y',
    PORT: '99999',
    POSTHORN_SECRET_KEY: 'hunter2',
    POSTHORN_TRUSTED_PROXIES: '10.0.0.0/8,everyone',
    POSTHORN_SIMULATOR: 'true',
    NODE_ENV: 'production',
    POSTHORN_RATE_LIMIT_MESSAGES: '0',
  }

  const { code, err } = await runWith(env, ['doctor', '--json'])

  assert.equal(code, 1)
  for (const name of [
    'DATABASE_URL',
    'PORT',
    'POSTHORN_SECRET_KEY',
    'POSTHORN_TRUSTED_PROXIES',
    'POSTHORN_SIMULATOR',
    'POSTHORN_RATE_LIMIT_MESSAGES',
  ])
    assert.match(err, new RegExp(`^  ${name} `, 'm'))
  assert.doesNotMatch(err, /hunter2/)
})

test('the secret key is created once, readable by its owner only; one that does not match the database is refused', async (t) => {
  const { run, env, folder } = await installation(t)
  await run('accounts', 'list')

  const { mode } = await stat(join(folder, 'secret.key'))
  const again = await run('accounts', 'list')
  const other = await runWith({ ...env, POSTHORN_SECRET_KEY: Buffer.alloc(32, 9).toString('base64') }, [
    'accounts',
    'list',
  ])

  assert.equal(mode & 0o777, 0o600)
  assert.equal(again.code, 0)
  assert.equal(other.code, 1)
  assert.match(other.err, /POSTHORN_SECRET_KEY/)
})

test('concurrent commands in a new data folder create one secret key and all succeed', async (t) => {
  const { run, folder } = await installation(t)

  const ran = await Promise.all(Array.from({ length: 6 }, () => run('accounts', 'list')))

  assert.deepEqual(
    ran.map(({ code, err }) => [code, err]),
    ran.map(() => [0, '']),
  )
  assert.deepEqual(await readdir(folder), ['secret.key'])
})

test('doctor exits with 0 on a consistent database, and with 1 and its findings if a balance is wrong', async (t) => {
  const { run, env } = await installation(t)
  const account = await run('accounts', 'create', '--name', 'A', '--json')
  await run('wallet', 'credit', '--account', account.json.id, '--amount-micros', '1000')

  const sound = await run('doctor', '--json')
  const pool = testPool(env['DATABASE_URL']!, { max: 1 })
  await pool`update wallets set balance_micros = balance_micros + 1`
  await pool.end()
  const broken = await run('doctor', '--json')

  assert.deepEqual([sound.code, sound.json.ok], [0, true])
  assert.deepEqual([broken.code, broken.json.ok], [1, false])
  assert.ok(broken.json.checks.some((check: { breaches: string[] }) => check.breaches.length > 0))
})

test('doctor prints JSON also if the configuration or the database prevents its checks', async () => {
  const misconfigured = await runWith({ PORT: 'x', POSTHORN_LOG_LEVEL: 'loud' }, ['doctor', '--json'])
  const alone = await runWith({ DATABASE_URL: 'postgres://x@127.0.0.1:1/x' }, ['doctor', '--json'])

  assert.deepEqual(
    [misconfigured.code, misconfigured.json.ok, misconfigured.json.checks[0].name],
    [1, false, 'configuration'],
  )
  assert.deepEqual(
    misconfigured.json.checks[0].breaches.map((breach: string) => breach.split(' ')[0]),
    ['PORT', 'POSTHORN_LOG_LEVEL'],
  )
  assert.deepEqual([alone.code, alone.json.ok, alone.json.checks[0].name], [1, false, 'database'])
  assert.match(alone.json.checks[0].breaches[0], /cannot be reached/)
})

test('a command whose database refuses connections because its disk is full prints one line and exits with 1', async (t) => {
  const { port } = await fullDatabase(t)
  const env = { DATABASE_URL: `postgres://x@127.0.0.1:${port}/x` }

  for (const argv of [['accounts', 'list'], ['accounts', 'create', '--name', 'A'], ['migrate']]) {
    const { code, out, err } = await within('the command to end', runWith(env, [...argv, '--json']))
    assert.deepEqual([code, out], [1, ''])
    assert.match(err, new RegExp(`^The database cannot write: ${fullMessage}\\. [^\\n]+\\n$`))
  }
})

test('doctor changes nothing and reports missing migrations', async (t) => {
  const database = await testDatabase({ empty: true })
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  t.after(() => database.drop())
  const env = { DATABASE_URL: database.url, POSTHORN_DATA_DIR: folder }

  const before = await runWith(env, ['doctor', '--json'])
  const migrated = await runWith(env, ['migrate', '--json'])
  const after = await runWith(env, ['doctor', '--json'])

  assert.deepEqual([before.code, before.json.ok, before.json.checks[0].name], [1, false, 'database'])
  assert.equal(before.json.checks[0].breaches.length, migrated.json.applied.length)
  assert.deepEqual([after.code, after.json.ok], [0, true])
})

async function serve(t: TestContext, env: Record<string, string>) {
  const [node = '', ...main] = program
  const child = spawn(node, [...main, 'serve', '--json'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  const [line] = (await within(
    'the service to say where it listens',
    Promise.race([once(createInterface(child.stdout!), 'line'), ended]),
  )) as [string]
  const stop = async () => {
    child.kill('SIGTERM')
    return await within('the service to end', ended)
  }
  return {
    stop,
    said: JSON.parse(line) as {
      base_url: string
      setup_url?: string
      account?: { id: string }
      live_key?: string
      test_key?: string
    },
  }
}

test('the first account is created only by a start that can print its keys', async (t) => {
  const { env, run } = await installation(t)
  const taken = createServer().listen(0, '127.0.0.1')
  await within('a port to be in use', once(taken, 'listening'))
  t.after(() => taken.close())
  const { port } = taken.address() as AddressInfo

  const refused = await Promise.all([
    runWith({ ...env, PORT: String(port) }, ['serve']),
    runWith({ ...env, HOST: '203.0.113.1' }, ['serve']),
  ])
  const accounts = await run('accounts', 'list', '--json')
  const later = await serve(t, env)
  await later.stop()

  for (const { code, out, err } of refused) {
    assert.deepEqual([code, out], [1, ''])
    assert.match(err, /^Posthorn cannot listen on \S+: .*\. Set HOST or PORT\.\n$/)
  }
  assert.deepEqual(accounts.json, [])
  assert.match(later.said.test_key ?? '', /^svc_test_/)
})

test('a start that cannot listen keeps the set-up link of the running service valid', async (t) => {
  const { env } = await installation(t)
  const running = await serve(t, env)
  const { base_url, setup_url } = running.said

  const refused = await runWith({ ...env, PORT: new URL(base_url).port }, ['serve'])
  const token = setup_url!.slice(setup_url!.indexOf('#') + 1)
  const owner = { token, name: 'Olivia Owner', email: 'owner@example.com', password: 'a horse with a battery' }
  const made = await consoleClient({ base_url }).send('POST', '/setup', owner)
  await running.stop()

  assert.deepEqual([refused.code, refused.out], [1, ''])
  assert.equal(made.status, 201, JSON.stringify(made.body))
})

test('serve creates the first account once, sees changes by commands, and stops in order', async (t) => {
  const { env, run } = await installation(t)

  const first = await serve(t, env)
  const { base_url, test_key } = first.said
  const api = apiClient(base_url, test_key)
  const sent = await api.post('/v1/messages', {
    channel: 'ch_test_whatsapp',
    to: '+15005550006',
    type: 'text',
    text: { body: 'Hello' },
  })
  const me = await api.get('/v1/me')
  await run('keys', 'revoke', me.body.api_key.id)
  const revoked = await until(
    'the revoked key to be refused',
    () => api.get('/v1/me'),
    (answer) => answer.status !== 200,
  )
  const [code] = await first.stop()
  const second = await serve(t, env)
  await second.stop()

  assert.deepEqual([sent.status, me.status], [202, 200])
  assert.deepEqual([revoked.status, revoked.body.error.code], [401, 'api_key_revoked'])
  assert.equal(code, 0)
  // until somebody can sign in, each start has its own link
  assert.deepEqual(Object.keys(second.said), ['base_url', 'console_url', 'setup_url'])
  assert.notEqual(second.said.setup_url, first.said.setup_url)
})

test('localhost has one listener, whatever its addresses, so that no connection bypasses the limits', async (t) => {
  const { env } = await installation(t)
  const { said, stop } = await serve(t, { ...env, HOST: 'localhost' })
  const { port } = new URL(said.base_url)

  const served = await fetch(`http://127.0.0.1:${port}/healthz`)
  const other = await fetch(`http://[::1]:${port}/healthz`).catch((error: unknown) => error)
  await stop()

  assert.equal(served.status, 200)
  assert.ok(other instanceof TypeError, 'the other address is served too')
})
