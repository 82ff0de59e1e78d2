/** Backup and restore (behaviour: backup 1). */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { groups } from '../../src/cli/groups.ts'
import { runCli } from '../../src/cli/program.ts'
import { tables } from '../../src/app.ts'
import { isBackedUp } from '../../src/platform/database/table-scope.ts'
import { tablesOf } from '../../src/platform/backup/catalogue.ts'
import { applyMigrations, createSchema, readSchemaFiles } from '../../src/platform/database/migrate.ts'
import type { Db } from '../../src/platform/database/sql.ts'
import { transact } from '../../src/platform/database/sql.ts'
import { openSecrets } from '../../src/platform/secrets/secrets.ts'
import { fakeClock } from '../support/clock.ts'
import { closing } from '../support/closing.ts'
import { testDatabase } from '../support/database.ts'
import { testPool } from '../support/pool.ts'
import { subscribe } from '../support/subscribing.ts'
import { startWorld, testSecretKeys, type World } from '../support/world.ts'

async function run(database_url: string, argv: readonly string[], secret_key = testSecretKeys.current) {
  let [out, err] = ['', '']
  const env = { DATABASE_URL: database_url, POSTHORN_SECRET_KEY: secret_key }
  const exit = await runCli(
    [...argv, '--json'],
    { env, out: (text) => void (out += text), err: (text) => void (err += text) },
    groups,
  )
  return { exit, json: out === '' ? undefined : JSON.parse(out), err }
}

async function folder(t: TestContext): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'posthorn-backup-'))
  closing(t, () => rm(made, { recursive: true, force: true }))
  return made
}

async function contents(sql: Db): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const { name, columns } of await tablesOf(sql)) {
    if (!isBackedUp(tables, name) || name === 'installation') continue
    const row = `concat_ws('|', ${columns.map((column) => `coalesce(t."${column}"::text, '-')`).join(', ')})`
    const [all] = await sql.unsafe<{ rows: string }[]>(
      `select count(*) || ' ' || coalesce(md5(string_agg(${row}, e'\\n' order by ${row} collate "C")), '') as rows from "${name}" t`,
    )
    found[name] = all!.rows
  }
  return found
}

const hello = (to: string, more = {}) => ({
  channel: 'ch_test_whatsapp',
  to,
  type: 'text',
  text: { body: 'Line one\nand \\. two\t"three" \u{1F4EF}' },
  ...more,
})

async function busyWorld(
  t: TestContext,
): Promise<{ world: World; key: string; endpoint: string; received: () => number }> {
  const world = await startWorld(t)
  const account = await world.account({ credit_micros: 5_000_000 })
  const receiver = world.receiver()
  const endpoint = await subscribe(account, receiver, { events: ['*'] })
  for (const end of ['06', '02', '06', '10', '06'])
    assert.equal((await account.api.post('/v1/messages', hello(`+150055500${end}`))).status, 202)
  await account.api.post('/v1/contacts', {
    phone: '+4915112345601',
    first_name: 'Ada',
    last_name: 'Okafor',
    attributes: { plan: 'pro' },
  })
  for (let n = 0; n < 5; n++) {
    await world.clock.advance(1_000)
    await world.settle()
  }
  await account.api.post('/v1/messages', hello('+15005550006', { send_at: world.clock.iso(3600_000) }))
  return { world, key: account.key, endpoint: endpoint.id, received: () => receiver.received.length }
}

test('a restored database has the same rows and invariants, and continues the work in progress', async (t) => {
  const { world, key, received } = await busyWorld(t)
  const file = join(await folder(t), 'all.backup')
  const before = await contents(world.pool)

  const written = await run(world.database_url, ['backup', file])
  assert.equal(written.exit, 0, written.err)
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  assert.deepEqual(
    [written.json.file, written.json.bytes, written.json.tables.messages],
    [file, (await stat(file)).size, 6],
  )
  assert.ok(!(await readFile(file)).includes(testSecretKeys.current))
  const twice = await run(world.database_url, ['backup', file])
  assert.deepEqual([twice.exit, twice.err], [1, `${file} is there already. Name another file, or remove it.\n`])

  const target = await testDatabase({ empty: true })
  closing(t, () => target.drop())
  const restored = await run(target.url, ['restore', file])
  assert.equal(restored.exit, 0, restored.err)
  assert.deepEqual([restored.json.rows, restored.json.waiting], [written.json.rows, 1])
  const again = testPool(target.url, { max: 1 })
  assert.deepEqual(await contents(again), before)
  await again.end()
  const doctor = await run(target.url, ['doctor'])
  assert.equal(doctor.exit, 0, JSON.stringify(doctor.json))

  const sent = received()
  const second = await startWorld(t, {
    seed: 'restored',
    database: target,
    settings: { webhook_allowed_hosts: world.platform.settings.webhook_allowed_hosts },
  })
  await second.clock.advance(3700_000)
  for (let n = 0; n < 5; n++) {
    await second.clock.advance(1_000)
    await second.settle()
  }
  const messages = (await second.api(key).get('/v1/messages?limit=100')).body.data
  assert.equal(messages.length, 6)
  assert.equal(messages.filter(({ status }: { status: string }) => status === 'queued').length, 0)
  assert.ok(received() > sent, 'webhooks go on')
  const events = (await second.api(key).get('/v1/events?limit=100')).body.data.map(({ id }: { id: string }) => id)
  assert.deepEqual(events, events.toSorted().toReversed(), 'what happens now comes after what happened before')
  await second.invariants()
})

test('damaged, foreign and newer files, a wrong key and a used database are refused without writing anything', async (t) => {
  const { world } = await busyWorld(t)
  const at = await folder(t)
  const file = join(at, 'all.backup')
  assert.equal((await run(world.database_url, ['backup', file])).exit, 0)
  const target = await testDatabase({ empty: true })
  closing(t, () => target.drop())
  const pool = testPool(target.url, { max: 1 })
  closing(t, () => pool.end())
  const refused = async (
    name: string,
    change: (bytes: Buffer) => Buffer | string,
    message: RegExp,
    secret_key?: string,
  ) => {
    await writeFile(join(at, name), change(await readFile(file)))
    const answer = await run(target.url, ['restore', join(at, name)], secret_key)
    assert.deepEqual([answer.exit, answer.json], [1, undefined], name)
    assert.match(answer.err, message)
    assert.equal(answer.err.split('\n').length, 2, 'one clear line')
    assert.deepEqual(await tablesOf(pool), [], name)
  }
  const damage = /is cut or was changed: its checksum does not fit\. Nothing was written/
  await refused('cut', (bytes) => bytes.subarray(0, bytes.length - 1000), damage)
  await refused('short', (bytes) => bytes.subarray(0, 10), /is no backup|cut/)
  await refused(
    'changed',
    (bytes) => Buffer.from(bytes.fill(bytes[bytes.length - 500]! ^ 1, bytes.length - 500, bytes.length - 499)),
    damage,
  )
  await refused('longer', (bytes) => Buffer.concat([bytes, Buffer.from('x')]), damage)
  await refused('empty', () => '', /is no backup/)
  await refused('other', () => 'PGDMP and more of it', /is no backup: make one with `posthorn backup FILE`/)
  await refused(
    'newer',
    (bytes) => bytes.toString('latin1').replace('POSTHORN BACKUP 1', 'POSTHORN BACKUP 2'),
    /newer version of the program/,
  )
  await refused(
    'key',
    (bytes) => bytes,
    /POSTHORN_SECRET_KEY does not fit/,
    Buffer.alloc(32, 'other').toString('base64'),
  )
  const none = await run(target.url, ['restore', join(at, 'nowhere')])
  assert.deepEqual([none.exit, none.err], [1, `There is no file ${join(at, 'nowhere')}.\n`])
  const refusals = [await run(target.url, ['restore', at]), await run(world.database_url, ['accounts', 'import', at])]
  for (const { exit, err } of refusals) assert.deepEqual([exit, err], [1, `${at} is a folder: name the file in it.\n`])

  const before = await contents(world.pool)
  const inUse = await run(world.database_url, ['restore', file])
  assert.equal(inUse.exit, 1)
  assert.match(inUse.err, /The database is not empty/)
  assert.deepEqual(await contents(world.pool), before)
  const unwritable = await run(world.database_url, ['backup', join(at, 'no', 'folder')])
  assert.equal(unwritable.exit, 1)
  assert.match(unwritable.err, /cannot be written/)
})

test('a backup of an earlier version is migrated, and one of an unknown schema is refused', async (t) => {
  const files = await readSchemaFiles()
  const [last, ...others] = [files.migrations.at(-1)!, ...files.migrations.slice(0, -1)]
  const old = await testDatabase({ empty: true })
  closing(t, () => old.drop())
  const pool = testPool(old.url, { max: 1 })
  closing(t, () => pool.end())
  const earlier = { migrations: others, functions: files.functions }
  await transact(pool, async (tx) => {
    await createSchema(tx, fakeClock(), others)
    await applyMigrations(tx, fakeClock(), earlier)
  })
  await openSecrets(pool, testSecretKeys)
  await pool`insert into accounts (id, name, created_at) values ('acc_old', 'Of before', now())`
  const at = await folder(t)
  assert.equal((await run(old.url, ['backup', join(at, 'old')])).exit, 0)

  const target = await testDatabase({ empty: true })
  closing(t, () => target.drop())
  const restored = await run(target.url, ['restore', join(at, 'old')])
  assert.equal(restored.exit, 0, restored.err)
  assert.deepEqual(restored.json.applied, [last.name])
  assert.equal((await run(target.url, ['doctor'])).exit, 0)
  assert.deepEqual(
    (await run(target.url, ['accounts', 'list'])).json.map(({ name }: { name: string }) => name),
    ['Of before'],
  )

  await pool`insert into schema_migrations values (9000, '9000_later.sql', 'x', now())`
  assert.equal((await run(old.url, ['backup', join(at, 'later')])).exit, 0)
  const empty = await testDatabase({ empty: true })
  closing(t, () => empty.drop())
  const unknown = await run(empty.url, ['restore', join(at, 'later')])
  assert.equal(unknown.exit, 1)
  assert.match(unknown.err, /whose schema this one does not know\. Start that version or a newer one/)
})

test('an account moves to another installation with its work in progress, and nothing is delivered twice', async (t) => {
  const from = await startWorld(t)
  const account = await from.account({ credit_micros: 5_000_000 })
  const receiver = from.receiver()
  await subscribe(account, receiver, { events: ['*'] })
  await account.api.post('/v1/contacts', { phone: '+4915112345601', first_name: 'Ada' })
  for (const end of ['06', '02', '10']) await account.api.post('/v1/messages', hello(`+150055500${end}`))
  for (let n = 0; n < 6; n++) {
    await from.clock.advance(1_000)
    await from.settle()
  }
  const delivered = receiver.received.length
  assert.ok(delivered > 4)
  // one delivery is in progress, one not yet reported, one waits
  await account.api.post('/v1/messages', hello('+15005550006'))
  await from.clock.advance(1_000)
  await from.tick('dispatch', 'fan-out')
  await account.api.post('/v1/messages', hello('+15005550006'))
  await from.clock.advance(1_000)
  await from.tick('dispatch')
  await account.api.post('/v1/messages', hello('+15005550006', { send_at: from.clock.iso(3600_000) }))
  const file = join(await folder(t), 'one.account')
  const nobody = await run(from.database_url, ['accounts', 'export', 'acc_nobody', file])
  assert.deepEqual([nobody.exit, nobody.json], [1, undefined])
  const written = await run(from.database_url, ['accounts', 'export', account.id, file])
  assert.equal(written.exit, 0, written.err)
  assert.match(written.err, /The account is still active here/)

  const to = await startWorld(t, {
    seed: 'other',
    settings: { webhook_allowed_hosts: from.platform.settings.webhook_allowed_hosts },
  })
  const other = await to.account({ credit_micros: 1_000_000 })
  await other.api.post('/v1/messages', hello('+15005550006'))
  await to.settle()
  const whole = await run(to.database_url, ['restore', file])
  assert.match(whole.err, /contains only the account acc_\w+\. Import it with `posthorn accounts import/)
  const brought = await run(to.database_url, ['accounts', 'import', file])
  assert.equal(brought.exit, 0, brought.err)
  assert.deepEqual(
    [brought.json.account_id, brought.json.rows, brought.json.tables.messages],
    [account.id, written.json.rows, 6],
  )
  const again = await run(to.database_url, ['accounts', 'import', file])
  assert.deepEqual([again.exit, again.err], [1, `The account ${account.id} is here already. Nothing was written.\n`])

  const moved = to.api(account.key)
  const ids = async (api: typeof moved, path: string) =>
    (await api.get(path)).body.data.map(({ id }: { id: string }) => id)
  assert.deepEqual(await ids(moved, '/v1/messages?limit=100'), await ids(account.api, '/v1/messages?limit=100'))
  assert.deepEqual(await ids(moved, '/v1/contacts'), await ids(account.api, '/v1/contacts'))
  assert.deepEqual((await moved.get('/v1/balance')).body, (await account.api.get('/v1/balance')).body)
  await to.clock.advance(3700_000)
  for (let n = 0; n < 8; n++) {
    await to.clock.advance(1_000)
    await to.settle()
  }
  const events = await ids(moved, '/v1/events?limit=100')
  const shown = receiver.received.map(({ headers }) => String(headers['webhook-id']))
  assert.deepEqual([...new Set(shown)].toSorted(), events.toSorted(), 'each event has reached the endpoint')
  assert.equal(shown.length, events.length, 'and once')
  assert.equal((await ids(other.api, '/v1/messages')).length, 1)
  assert.equal((await run(to.database_url, ['doctor'])).exit, 0)
})

test('an account with opt-outs is imported only into an installation with the same hash key', async (t) => {
  const [from, to] = [await startWorld(t), await startWorld(t, { seed: 'other' })]
  const moving = await from.account({ credit_micros: 5_000_000 })
  await moving.api.post('/v1/contacts', { phone: '+4915112345601', consent: { sms: 'opted_out' } })
  const file = join(await folder(t), 'one.account')
  assert.equal((await run(from.database_url, ['accounts', 'export', moving.id, file])).exit, 0)
  const before = await contents(to.pool)

  const refused = await run(to.database_url, ['accounts', 'import', file])
  const after = await contents(to.pool)
  const [alike] = await from.pool<{ address_hash_key: string }[]>`select address_hash_key from installation`
  await to.pool`update installation set address_hash_key = ${alike!.address_hash_key}`
  const brought = await run(to.database_url, ['accounts', 'import', file])

  assert.equal(refused.exit, 1)
  assert.match(refused.err, /^The account has 1 opt-out.* Nothing was written\./)
  assert.deepEqual(after, before)
  assert.deepEqual([brought.exit, brought.err], [0, ''])
  assert.equal((await run(to.database_url, ['doctor'])).exit, 0)
})

test('an account whose channel belongs to another account is refused without writing anything', async (t) => {
  const [from, to] = [await startWorld(t), await startWorld(t, { seed: 'other' })]
  const creation = { type: 'sms', provider: 'simulator', name: 'Shop', identifier: '+15550100', credentials: {} }
  const [moving, other] = [await from.account({ mode: 'live' }), await to.account({ mode: 'live' })]
  for (const account of [moving, other]) assert.equal((await account.api.post('/v1/channels', creation)).status, 201)
  const file = join(await folder(t), 'one.account')
  assert.equal((await run(from.database_url, ['accounts', 'export', moving.id, file])).exit, 0)
  const before = await contents(to.pool)

  const refused = await run(to.database_url, ['accounts', 'import', file])
  assert.equal(refused.exit, 1)
  assert.match(
    refused.err,
    /^Something of the account is here already \(channels_identifier\): .* Nothing was written\.\n$/,
  )
  assert.deepEqual(await contents(to.pool), before)
  assert.equal((await other.api.get('/v1/channels')).body.data.length, 1)
})
