import assert from 'node:assert/strict'
import { test } from 'node:test'
import postgres from '#postgres'
import { type ContactRow, applyChange, newContact } from './contact.ts'
import type { Pool } from '../../platform/database/sql.ts'
import { startPlatform, type PlatformWorld } from '../../../test/support/world.ts'
import {
  countPrefix,
  findAddresses,
  insertAddresses,
  insertContacts,
  listContacts,
  type ContactFilters,
} from './repository.ts'

const at = '2026-01-31T09:30:00.000Z'
const tenant = { account_id: 'acc_01kg9p6je0e6z9vsnhtbf6d24v', mode: 'live' } as const
const neighbour = { account_id: 'acc_01kg9p6je0e6z9vsnhtbf6d24w', mode: 'live' } as const
const many = 15_000
const atOnce = 3_000
const readMax = 300

function contact(owner: typeof tenant | typeof neighbour, n: number): ContactRow {
  const change = {
    phone: `+49151${10_000_000 + ((n * 7919) % 89_999_999)}`,
    email: `user${n}@example.com`,
    first_name: `First${n % 500}`,
    last_name: `Last${n}`,
    external_id: `crm-${n}`,
    add_tags: [n % 3000 === 0 ? 'rare' : 'usual'],
  }
  return applyChange(newContact(owner, `ct_${owner.account_id.at(-1)}${String(n).padStart(25, '0')}`, at), change, {
    at,
    source: 'api',
  }).row
}

async function rowsRead(world: PlatformWorld, work: (sql: Pool) => Promise<unknown>): Promise<number> {
  const statements: { text: string; values: unknown[] }[] = []
  const sql = postgres(world.database_url, {
    max: 1,
    debug: (_connection, text, values) => void statements.push({ text, values }),
  })
  try {
    await work(sql as unknown as Pool)
    let read = 0
    type PlanNode = Record<string, unknown> & { Plans?: PlanNode[] }
    const walk = (node: PlanNode): void => {
      const number = (key: string) => Number(node[key] ?? 0)
      if (node['Relation Name'] !== undefined)
        read +=
          (number('Actual Rows') + number('Rows Removed by Filter') + number('Rows Removed by Index Recheck')) *
          number('Actual Loops')
      node.Plans?.forEach(walk)
    }
    for (const { text, values } of statements.filter((statement) => statement.text.includes('from contact'))) {
      const [row] = await sql.unsafe<{ 'QUERY PLAN': [{ Plan: PlanNode }] }[]>(
        `explain (analyze, format json) ${text}`,
        values as string[],
      )
      walk(row!['QUERY PLAN'][0].Plan)
    }
    return read
  } finally {
    await sql.end()
  }
}

test('filters that match few contacts read few rows, also beside other accounts', async (t) => {
  const world = await startPlatform(t)
  for (const owner of [tenant, neighbour])
    for (let at = 0; at < many; at += atOnce) {
      const rows = Array.from({ length: atOnce }, (_, n) => contact(owner, at + n))
      await insertContacts(world.pool, owner, rows)
      await insertAddresses(
        world.pool,
        owner,
        rows.map((row) => ({ kind: 'phone', address: row.phone_key!, contact_id: row.id, blocked: false })),
      )
    }
  await world.pool`vacuum analyze contacts`
  await world.pool`vacuum analyze contact_addresses`
  const phone = contact(tenant, 77).phone!
  const filters: readonly (Partial<ContactFilters> & { found: number })[] = [
    { email_key: 'user77@example.com', found: 1 },
    { external_id: 'crm-77', found: 1 },
    { phone_key: phone, found: 1 },
    { labels: ['t:rare'], found: 5 },
    { name_prefix: 'last1499', found: 11 },
    { name_prefix: 'user1499', found: 11 },
    { name_prefix: phone.slice(1), phone_prefix: phone, found: 1 },
    { name_prefix: 'nobody', found: 0 },
  ]
  for (const { found, ...some } of filters) {
    const search = { filters: { labels: [], without: [], ...some }, segment: undefined, expected: 'few' } as const
    const page = { limit: 20, starting_after: undefined }
    assert.equal((await listContacts(world.pool, tenant, search, page)).length, found, JSON.stringify(some))
    const read = await rowsRead(world, (sql) => listContacts(sql, tenant, search, page))
    assert.ok(read <= readMax, `${JSON.stringify(some)} reads ${read} rows`)
    if (some.name_prefix === undefined) continue
    const counted = await rowsRead(world, (sql) => countPrefix(sql, tenant, search.filters, 1001))
    assert.ok(counted <= readMax, `counting ${JSON.stringify(some)} reads ${counted} rows`)
  }
  const found = await rowsRead(world, (sql) => findAddresses(sql, tenant, [{ kind: 'phone', address: phone }]))
  assert.ok(found <= readMax, `looking an address up reads ${found} rows`)
})
