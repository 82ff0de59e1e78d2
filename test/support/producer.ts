/** A producer for tests: each of its rows becomes at most one message. */
import type { Tenant } from '../../src/api/caller.ts'
import type { ItemOutcome, ProducerFragment } from '../../src/modules/messages/service.ts'
import type { Traffic } from '../../src/modules/messages/accept/submission.ts'
import type { App } from '../../src/app.ts'
import type { Db } from '../../src/platform/database/sql.ts'

export interface ProducerRow {
  readonly key: string
  readonly status: 'pending' | 'cancelled' | 'sent' | 'refused'
  readonly message_id: string | null
  readonly code: string | null
}

export interface TestProducer {
  readonly fragment: ProducerFragment
  prepare(sql: Db): Promise<void>
  add(sql: Db, tenant: Tenant, count: number): Promise<string[]>
  rows(sql: Db, keys?: readonly string[]): Promise<ProducerRow[]>
  waiting(sql: Db, count: number): Promise<string[]>
  cancel(sql: Db, keys: readonly string[]): Promise<string[]>
}

export function testProducer(kind = 'test'): TestProducer {
  const table = `producer_${kind}`
  return {
    fragment: fragmentOf(kind, table),
    async prepare(sql) {
      await sql`
        create table ${sql(table)} (
          account_id text not null, mode text not null, key text collate "C" not null, n int not null, status text not null default 'pending', message_id text, code text,
          primary key (account_id, mode, key)
        )`
    },
    async add(sql, { account_id, mode }, count) {
      const rows = await sql<{ key: string }[]>`
        insert into ${sql(table)} (account_id, mode, key, n)
        select ${account_id}, ${mode}, ${`${kind}/`}::text || n, n
        from generate_series(1, ${count}::int) n
        returning key`
      await sql`analyze ${sql(table)}`
      return rows.map(({ key }) => key)
    },
    rows: (sql, keys) => sql<ProducerRow[]>`
      select key, status, message_id, code
      from ${sql(table)} ${keys === undefined ? sql`` : sql`where key = any (${[...keys]}::text[])`}
      order by n`,
    async waiting(sql, count) {
      const rows = await sql<{ key: string }[]>`select key from ${sql(table)} where status = 'pending' limit ${count}`
      return rows.map(({ key }) => key)
    },
    async cancel(sql, keys) {
      const rows = await sql<{ key: string }[]>`
        update ${sql(table)}
        set status = 'cancelled'
        where key = any (${[...keys]}::text[]) and status = 'pending'
        returning key`
      return rows.map(({ key }) => key)
    },
  }
}

const fragmentOf = (kind: string, table: string): ProducerFragment => ({
  kind,
  columns: [],
  claim: (sql) => sql`
    select
    from ${sql(table)}
    where account_id = i.account_id and mode = i.mode and key = i.submission_key and status = 'pending' and message_id is null
    for update skip locked`,
  complete: (sql) => sql`
    update ${sql(table)} r
    set message_id = s.message_id, code = s.code, status = case when s.message_id is null then 'refused' else 'sent' end
    from submitted s
    where r.account_id = s.account_id and r.mode = s.mode and r.key = s.key and r.message_id is null and s.code is distinct from 'insufficient_balance'
    returning r.message_id`,
  async known(sql, rows) {
    const found = await sql<{ key: string; message_id: string }[]>`
      select key, message_id from ${sql(table)} where key = any (${rows.map(({ submission_key }) => submission_key)}::text[]) and message_id is not null`
    const ids = new Map(found.map(({ key, message_id }) => [key, message_id]))
    return new Map(
      rows.flatMap(({ n, submission_key }) => (ids.has(submission_key!) ? [[n, ids.get(submission_key!)!]] : [])),
    )
  },
})

export interface TestSubmission {
  readonly tenant: Tenant
  readonly channel: string
  readonly keys: readonly string[]
  readonly kind?: string
  readonly traffic?: Traffic
  readonly more?: (key: string) => object
}

export async function submitKeys(
  { services: { messages } }: App,
  { tenant, channel, keys, kind = 'test', traffic = 'bulk', more }: TestSubmission,
): Promise<readonly ItemOutcome[]> {
  const items = await Promise.all(
    keys.map(async (key) => ({
      message: await messages.check(tenant, {
        channel,
        to: '+19995550006',
        type: 'text',
        text: { body: `For ${key}` },
        ...more?.(key),
      }),
      submission_key: key,
    })),
  )
  return await messages.submit({ origin: { type: 'console', id: `usr_${kind}` }, traffic, items, producer: { kind } })
}
