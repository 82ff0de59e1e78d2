/** A projection for tests: counts messages by origin and status, and compares with a snapshot. */
import { type OriginType, originTypes } from '../../src/api/resources/message.ts'
import { rankOf } from '../../src/modules/messages/message.ts'
import type { Projection, TransitionRow } from '../../src/modules/messages/projections.ts'
import { pendingTransitions } from '../../src/modules/messages/projections-repository.ts'
import type { Db } from '../../src/platform/database/sql.ts'

export interface TestProjection {
  readonly projection: Projection
  prepare(sql: Db): Promise<void>
  /** Differences by origin and status; empty if the counters are exact. */
  wrong(sql: Db): Promise<string[]>
  total(sql: Db): Promise<number>
  /** Messages whose folded status is not the last one; call it when nothing waits. */
  behind(sql: Db): Promise<string[]>
  onFold: (rows: readonly TransitionRow[], tx: Db) => Promise<void>
}

export function testProjection(name = 'test', origins: readonly OriginType[] = originTypes): TestProjection {
  const counted = (sql: Db) => sql`
    select account_id, mode, origin_type, origin_id, status, sum(messages)::int as messages from (
      select account_id, mode, origin_type, origin_id, status, messages
      from projection_counts
      where projection = ${name}
      union all
      select u.account_id, u.mode, u.origin_type, u.origin_id, t.status, t.messages
      from (${pendingTransitions(sql, name)}) u
      cross join lateral (values (u.status, u.messages), (u.from_status, -u.messages)) t(status, messages)
      where t.status is not null
    ) c group by 1, 2, 3, 4, 5`
  const self: TestProjection = {
    onFold: async () => undefined,
    projection: {
      name,
      origins,
      async apply(tx, rows) {
        await addCounts(tx, name, rows)
        await raiseRanks(tx, name, rows)
        await self.onFold(rows, tx)
      },
    },
    async prepare(sql) {
      await sql`
        create table if not exists projection_counts (projection text, account_id text, mode text, origin_type text, origin_id text, status text, messages bigint,
          unique nulls not distinct (projection, account_id, mode, origin_type, origin_id, status))`
      await sql`create table if not exists projection_items (projection text, message_id text, rank int, primary key (projection, message_id))`
    },
    async wrong(sql) {
      const rows = await sql<{ line: string }[]>`
        select coalesce(c.origin_type, m.origin_type) || ' ' || coalesce(c.status, m.status) || ': ' || coalesce(c.messages, 0) || ' counted, ' || coalesce(m.messages, 0) || ' are' as line
        from (${counted(sql)}) c
        full join (
          select account_id, mode, origin_type, origin_id, status, count(*)::int as messages from messages
          where direction = 'outbound' and origin_type = any (${[...origins]}::text[]) group by 1, 2, 3, 4, 5
        ) m on m.account_id = c.account_id and m.mode = c.mode and m.origin_type = c.origin_type and m.origin_id is not distinct from c.origin_id and m.status = c.status
        where coalesce(c.messages, 0) <> coalesce(m.messages, 0) order by 1`
      return rows.map(({ line }) => line)
    },
    async total(sql) {
      const [row] = await sql<
        { messages: number }[]
      >`select coalesce(sum(messages), 0)::int as messages from (${counted(sql)}) c`
      return row!.messages
    },
    async behind(sql) {
      const ranks = Object.entries(rankOf).map(([status, rank]) => ({ status, rank }))
      const rows = await sql<{ id: string }[]>`
        select m.id || ' ' || m.status as id from messages m
        join json_to_recordset(${JSON.stringify(ranks)}::text::json) as r(status text, rank int) on r.status = m.status
        left join projection_items i on i.projection = ${name} and i.message_id = m.id
        where m.direction = 'outbound' and m.origin_type = any (${[...origins]}::text[]) and i.rank is distinct from r.rank`
      return rows.map(({ id }) => id)
    },
  }
  return self
}

async function addCounts(tx: Db, projection: string, rows: readonly TransitionRow[]): Promise<void> {
  const changes = rows.flatMap(
    ({ account_id, mode, origin_type, origin_id, from_status, status, message_ids: { length } }) => [
      { account_id, mode, origin_type, origin_id, status, messages: length },
      ...(from_status === null
        ? []
        : [{ account_id, mode, origin_type, origin_id, status: from_status, messages: -length }]),
    ],
  )
  await tx`
    insert into projection_counts as c (projection, account_id, mode, origin_type, origin_id, status, messages)
    select ${projection}, account_id, mode, origin_type, origin_id, status, sum(messages)
    from json_to_recordset(${JSON.stringify(changes)}::text::json) as t(account_id text, mode text, origin_type text, origin_id text, status text, messages int)
    group by 2, 3, 4, 5, 6 order by 2, 3, 4, 5, 6
    on conflict (projection, account_id, mode, origin_type, origin_id, status) do update set messages = c.messages + excluded.messages`
}

/** Raises to the furthest status, whatever the order. */
async function raiseRanks(tx: Db, projection: string, rows: readonly TransitionRow[]): Promise<void> {
  const ranks = rows.flatMap(({ message_ids, status }) =>
    message_ids.map((message_id) => ({ message_id, rank: rankOf[status] })),
  )
  await tx`
    insert into projection_items as i (projection, message_id, rank)
    select ${projection}, message_id, max(rank)
    from json_to_recordset(${JSON.stringify(ranks)}::text::json) as t(message_id text, rank int)
    group by message_id order by message_id
    on conflict (projection, message_id) do update set rank = greatest(i.rank, excluded.rank)`
}
