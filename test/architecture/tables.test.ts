/** Whose SQL is it: a table has one owner, whose stores alone name it, and in modules SQL stands in stores alone. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { accountColumn, belongings } from '../../src/belongings.ts'
import { root, sources, templates, withoutComments, type Source } from './sources.ts'

/** Every table, by its owner. Where another one's statement needs it, the owner exports a fragment through its service. */
const owners: Readonly<Record<string, string>> = {
  platform: 'events idempotency_keys installation processes schema_functions schema_migrations',
  accounts: 'accounts api_keys',
  automations: 'automation_events automation_runs automations integration_redactions integration_sources',
  campaigns: 'campaign_counters campaign_jobs campaign_recipients campaign_tombstones campaigns',
  billing: 'grants ledger_entries prices top_ups usage_rows wallets',
  channels: 'channel_sessions channel_templates channels',
  media: 'media_files',
  contacts: `contact_addresses contact_attributes contact_counters contact_import_errors contact_import_jobs contact_import_chunks contact_imports contact_list_members
    contact_lists contact_tags contact_tombstones contacts consent_changes segments service_windows suppressions`,
  messages: `channel_leases channel_pauses dispatch_jobs inbound_parts inbound_references message_attempts message_quarter_counts message_retention message_status_counts message_transitions messages provider_callbacks provider_references
    provider_reports`,
  console:
    'audit_entries conversation_messages conversations identities invitations memberships request_log sessions sign_in_failures user_tokens users',
  mail: 'email_queue emails',
  webhooks: `webhook_deliveries webhook_endpoints webhook_failures webhook_fan_out webhook_handoff_counts webhook_handoffs webhook_leases webhook_queue
    webhook_retries webhook_subscriptions`,
}

/** Tables of the platform that features read, and what for. */
const read: Readonly<Record<string, { readonly by: readonly string[]; readonly reason: string }>> = {
  events: { by: ['webhooks'], reason: 'the feed is what webhooks deliver' },
  processes: {
    by: ['channels', 'contacts', 'media', 'messages', 'webhooks'],
    reason: 'what a dead process had in hand is taken over in the statement that finds it dead',
  },
}

/** Files that hold SQL. */
const stores = /(?:^|\/)(?:store|[a-z-]+-store|invariants)\.ts$|\/sql\/\w+\.sql$/

const ownerOf = new Map(
  Object.entries(owners).flatMap(([owner, tables]) => tables.split(/\s+/).map((table) => [table, owner])),
)

test('every table has one owner', () => {
  const schema = readFileSync(join(root, 'schema.sql'), 'utf8')
  const tables = [...schema.matchAll(/^create table (\w+) \(/gm)].map((match) => match[1]!)

  assert.deepEqual([...ownerOf.keys()].toSorted(), tables.toSorted())
})

test('every table says whose rows it holds, for backups', () => {
  const schema = readFileSync(join(root, 'schema.sql'), 'utf8')
  const columns = new Map(
    [...schema.matchAll(/^create table (\w+) \(\n([^]*?)^\)/gm)].map((match) => [match[1]!, match[2]!]),
  )
  const has = (table: string, column: string) => new RegExp(`^  "?${column}"? `, 'm').test(columns.get(table) ?? '')
  const wrong = Object.entries(belongings).filter(
    ([table, whose]) =>
      (whose.to === 'account' && !has(table, accountColumn(table))) ||
      (whose.to === 'parent' &&
        (!has(table, whose.column) || !has(whose.parent, whose.key) || belongings[whose.parent]?.to !== 'account')),
  )

  assert.deepEqual(Object.keys(belongings).toSorted(), [...columns.keys()].toSorted())
  assert.deepEqual(wrong, [])
})

test('a table is named by its owner alone', () => {
  assert.deepEqual(foreign(), [])
})

test('in modules SQL stands in stores, in sql/ and in invariants', () => {
  const elsewhere = files().filter(
    ({ path, text }) =>
      path.startsWith('src/modules/') &&
      !stores.test(path) &&
      /\b(?:sql|tx|pool)(?:<[^`]*?>)?`/.test(withoutComments(text)),
  )

  assert.deepEqual(
    elsewhere.map(({ path }) => path),
    [],
  )
})

test('a store opens no transaction: it writes in the one that it is given', () => {
  const opening = files().filter(
    ({ path, text }) =>
      /(?:^|\/)(?:store|[a-z-]+-store)\.ts$/.test(path) && /\btransact\(|\.begin\(/.test(withoutComments(text)),
  )

  assert.deepEqual(
    opening.map(({ path }) => path),
    [],
  )
})

test('a table is seen wherever a statement names it, in a fragment within a fragment too', () => {
  const seen = (text: string) => foreignIn({ path: 'src/modules/messages/store.ts', text })

  assert.deepEqual(seen('const one = sql`select 1 from wallets`'), ['src/modules/messages/store.ts wallets'])
  assert.deepEqual(seen('const one = sql`select 1 ${some ? sql`from messages join grants` : sql``} where x`'), [
    'src/modules/messages/store.ts grants',
  ])
  assert.deepEqual(
    seen("const no = '`'; const one = sql`select ${a({ b: `c` })} ${sql`${sql`insert into wallets`}`}`"),
    ['src/modules/messages/store.ts wallets'],
  )
  assert.deepEqual(seen('/** As in `this. */ const one = /[`{]/; const two = tx`update wallets set x = 1`'), [
    'src/modules/messages/store.ts wallets',
  ])
  assert.deepEqual(seen('const one = sql`select 1 from messages`; from(`wallets`)'), [])
})

const files = () => sources('src/**/*.{ts,sql}').filter(({ path }) => !path.endsWith('.test.ts'))

const foreign = (): string[] => files().flatMap(foreignIn)

/** `file table` for each table that a file names without owning or reading it. */
function foreignIn({ path, text }: Source): string[] {
  const owner = /^src\/modules\/([^/]+)\//.exec(path)?.[1] ?? 'platform'
  const statements = path.endsWith('.sql')
    ? [text.replaceAll(/--.*$/gm, '')]
    : templates(text).map((template) => template.text)
  return [...ownerOf].flatMap(([table, its]) => {
    if (its === owner) return []
    const uses = (words: string) =>
      statements.some((statement) => new RegExp(`\\b(?:${words})\\s+(?:only\\s+)?${table}\\b`).test(statement))
    if (uses('into|update|delete from')) return [`${path} ${table}`]
    return uses('from|join|using|table') && read[table]?.by.includes(owner) !== true ? [`${path} ${table}`] : []
  })
}
