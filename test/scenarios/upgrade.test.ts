/** Upgrades a database of the last version before the squashed migrations (docs/decisions/squashed-migrations.md). */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { closing } from '../support/closing.ts'
import { testDatabase } from '../support/database.ts'
import { testPool } from '../support/pool.ts'
import { startWorld, testSecretKeys } from '../support/world.ts'
import { fakeClock } from '../support/clock.ts'
import { idMaker, type IdMaker } from '../../src/lib/ids.ts'
import { migrate, missingMigrations } from '../../src/platform/database/migrate.ts'
import { OperatorError } from '../../src/lib/operator-error.ts'
import { openSecrets } from '../../src/platform/secrets/secrets.ts'
import { schemaText } from '../../src/platform/database/schema.ts'
import type { Db, Pool } from '../../src/platform/database/sql.ts'

/** The old version's migrations and functions, each after a line with its name. */
const fixture = readFileSync(join(import.meta.dirname, '../fixtures/schema-0045.sql'), 'utf8')

test('an upgraded database has the schema of a fresh one, with its indexes in the same order', async (t) => {
  const [fresh, old] = [await database(t), await database(t)]
  await migrate(fresh, fakeClock())
  await makeBefore(old)

  const missing = await missingMigrations(old)
  const report = await migrate(old, fakeClock())
  const again = await migrate(old, fakeClock())

  assert.equal(missing[0], 'upgrade/0045.sql')
  assert.equal(report.applied[0], 'upgrade/0045.sql')
  assert.deepEqual([again.applied, await missingMigrations(old)], [[], []])
  assert.equal(await schemaText(old), await schemaText(fresh))
  assert.deepEqual(await indexOrder(old), await indexOrder(fresh))
})

test('a database of an older development version is refused with one line that says what to do', async (t) => {
  const old = await database(t)
  await makeBefore(old)
  const refused = (message: RegExp) =>
    assert.rejects(migrate(old, fakeClock()), (error: unknown) => {
      assert.ok(error instanceof OperatorError && error.subject === 'database')
      assert.match(error.message, message)
      return !error.message.includes('\n')
    })

  await old`delete from schema_migrations where number > 44`
  await refused(
    /last migration is 0044_webhooks\.sql\. Start the version whose last migration is 0045_integrations\.sql.*empty database/,
  )
  await old`delete from schema_migrations`
  await old`insert into schema_migrations values (1, '0001_installation.sql', '', '2026-01-31T09:30:00.000Z')`
  await refused(/0001_installation\.sql/)
})

test('a database is not upgraded while a process of the old version runs, and is once that process is silent', async (t) => {
  const old = await database(t)
  await makeBefore(old)
  const clock = fakeClock()
  await old`insert into processes (id, roles, started_at, beat_at) values ('old.1', '{api}', ${clock.iso(-60_000)}, ${clock.iso(-9_000)})`

  await assert.rejects(migrate(old, clock), (error: unknown) => {
    assert.ok(error instanceof OperatorError && error.subject === 'database')
    assert.match(error.message, /old\.1.*Stop them/)
    return !error.message.includes('\n')
  })
  await clock.advance(2_000)

  assert.equal((await migrate(old, clock)).applied[0], 'upgrade/0045.sql')
})

test('waiting work is completed after the upgrade: a message, a delivery receipt, queued deliveries and those of a dead process', async (t) => {
  const before = await testDatabase({ empty: true })
  closing(t, () => before.drop())
  const old = testPool(before.url)
  closing(t, () => old.end({ timeout: 1 }))
  await makeBefore(old)
  const secrets = await openSecrets(old, testSecretKeys)
  const waiting = await leaveWork(
    old,
    idMaker(fakeClock()),
    secrets.seal(`whsec_${Buffer.alloc(32, 1).toString('base64')}`),
  )

  await migrate(old, fakeClock())
  const world = await startWorld(t, { database: before })
  const receiver = world.receiver()
  await old`update webhook_endpoints set url = ${receiver.url}`
  await world.settle()

  const messages = await old<{ id: string; status: string }[]>`select id, status from messages order by id`
  assert.deepEqual(
    [...messages].map(({ id, status }) => [id, status]),
    [
      [waiting.queued, 'delivered'],
      [waiting.sent, 'delivered'],
    ],
  )
  const delivered = receiver.received.map(({ headers }) => headers['service-event-id'])
  assert.deepEqual(
    waiting.events.filter((id) => delivered.filter((one) => one === id).length !== 1),
    [],
  )
  await world.invariants()
})

async function database(t: TestContext) {
  const made = await testDatabase({ empty: true })
  closing(t, () => made.drop())
  const pool = testPool(made.url)
  closing(t, () => pool.end({ timeout: 1 }))
  return pool
}

async function makeBefore(sql: Db): Promise<void> {
  const at = '2026-01-31T09:30:00.000Z'
  await sql`create table schema_migrations (number integer primary key, name text not null, checksum text not null, applied_at timestamptz not null)`
  await sql`create table schema_functions (name text primary key, checksum text, version text not null, applied_at timestamptz not null)`
  for (const [, kind, name, text] of fixture.matchAll(
    /^-- (file|function): (\S+)\n([\s\S]*?)(?=^-- (?:file|function): |(?![\s\S]))/gm,
  )) {
    await sql.unsafe(text!)
    const checksum = createHash('sha256').update(text!).digest('hex')
    if (kind === 'file')
      await sql`insert into schema_migrations values (${Number(name!.slice(0, 4))}, ${name!}, ${checksum}, ${at})`
    else await sql`insert into schema_functions values (${name!}, ${checksum}, '0.1.0', ${at})`
  }
  await sql`insert into installation (system_identifier, created_at) select system_identifier::text, ${at} from pg_control_system()`
}

/** Among equal indexes the planner chooses the one created last (docs/decisions/set-wise-statements.md). */
async function indexOrder(sql: Db): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select c.relname || ' ' || i.relname as name from pg_index x join pg_class c on c.oid = x.indrelid join pg_class i on i.oid = x.indexrelid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not i.relispartition order by c.relname, x.indexrelid`
  return rows.map(({ name }) => name)
}

async function leaveWork(sql: Pool, ids: IdMaker, secret: string) {
  const [account, queued, sent, endpoint, first, second] = [
    ids('acc'),
    ids('msg'),
    ids('msg'),
    ids('we'),
    ids('evt'),
    ids('evt'),
  ]
  const at = '2026-01-31T09:30:00.000Z'
  await sql`insert into accounts (id, name, created_at) values (${account}, 'Before', ${at})`
  for (const [id, status] of [
    [queued, 'queued'],
    [sent, 'sent'],
  ] as const)
    await sql`
      insert into messages (account_id, mode, id, channel_id, channel_type, direction, "to", "from", type, content, status, metadata, billing_source, amount_micros, origin_type,
        created_at, updated_at, sending_at, sent_at)
      values (${account}, 'test', ${id}, 'ch_test_sms', 'sms', 'outbound', '+15005550006', 'Posthorn', 'text', '{"body":"Hello"}', ${status}, '{}', 'wallet', 0, 'api',
        ${at}, ${at}, ${status === 'sent' ? at : null}, ${status === 'sent' ? at : null})`
  await sql`insert into dispatch_jobs (account_id, mode, message_id, channel_id, queue, priority, due_at) values (${account}, 'test', ${queued}, 'ch_test_sms', ${`${account}:ch_test_sms`}, 1, ${at})`
  await sql`insert into provider_references (channel_id, provider_id, account_id, mode, message_id, created_at) values ('ch_test_sms', 'p1', ${account}, 'test', ${sent}, ${at})`
  await sql`
    insert into provider_reports (id, account_id, mode, channel_id, provider_id, report, due_at, created_at)
    values ('req_1', ${account}, 'test', 'ch_test_sms', 'p1', '{"kind":"receipt","provider_id":"p1","transition":"deliver"}', ${at}, ${at})`
  await sql`
    insert into webhook_endpoints (account_id, mode, id, url, description, events, status, filters, metadata, created_by, secret, created_at)
    values (${account}, 'test', ${endpoint}, 'https://example.com', '', '{package.exhausted}', 'active', '{}', '{}', '{"type":"api_key","id":"key_1"}', ${secret}, ${at})`
  await sql`
    insert into webhook_subscriptions (account_id, mode, event_type, endpoint_id, since_snapshot, since_position)
    values (${account}, 'test', 'package.exhausted', ${endpoint}, pg_current_snapshot(), 3)`
  await sql`insert into webhook_leases (endpoint_id, process_id, lease_until) values (${endpoint}, 'dead', ${at})`
  for (const id of [first, second])
    await sql`insert into events (account_id, mode, id, type, object_id, object, created_at, position) values (${account}, 'test', ${id}, 'package.exhausted', ${id.replace('evt_', 'grant_')}, '{}', ${at}, 1)`
  await sql`update webhook_fan_out set position = 2`
  await sql`
    insert into webhook_queue (endpoint_id, id, account_id, mode, event_id, event_type, due_at, created_at)
    values (${endpoint}, ${`whd_${first.slice(4, 18)}0123456789ab`}, ${account}, 'test', ${first}, 'package.exhausted', ${at}, ${at})`
  await sql`
    insert into webhook_handoffs (process_id, id, created_at, endpoints, deliveries, size) values ('dead', 1, ${at}, ${endpoint}, ${`1 0123456789ab ${second} package.exhausted`}, 1)`
  return { queued, sent, events: [first, second] }
}
