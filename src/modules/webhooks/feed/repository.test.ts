/** The statements of the event feed read a page through an index, whatever the filters. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idFloor } from '../../../lib/ids.ts'
import { isoTime } from '../../../lib/clock.ts'
import { maintainPartitions } from '../../../platform/database/partitions.ts'
import { jsonRows, type Pool } from '../../../platform/database/sql.ts'
import { eventTenant } from '../../../../test/support/new-event.ts'
import { explaining, readsWholly } from '../../../../test/support/plans.ts'
import { startPlatform } from '../../../../test/support/world.ts'
import { feedService, type FeedQuery } from './service.ts'

const many = 30_000
/** Far fewer than there are: for each of five types at most the twenty minutes of slack around two times. */
const readMax = 6_100
/** One that nearly all events have, rare ones, one that none has, and groups of these. */
const filters = ['message.sent', 'message.read', 'campaign.failed', 'webhook.test', 'message.*', 'campaign.*']
const startMs = Date.parse('2026-01-01T00:00:00.000Z')

/** One event a second: nearly all of one type; the first ones of others, some of them of one object. */
async function fill(pool: Pool): Promise<void> {
  await maintainPartitions(pool, { table: 'events', prefix: 'evt' }, startMs, null)
  const ids = Array.from({ length: many }, (_, n) => {
    const at = startMs + (n + 1) * 1000
    return { n: n + 1, id: `${idFloor('evt', at).slice(0, 20)}${String(n).padStart(10, '0')}` }
  })
  await pool`
    insert into events (account_id, mode, id, type, object_id, object, created_at, position)
    select ${eventTenant.account_id}, ${eventTenant.mode}, id,
      case n when 1 then 'message.read' when 2 then 'campaign.failed' when 3 then 'message.failed' else 'message.sent' end,
      case when n < 5 then 'msg_rare' when n > ${many / 2}::int then 'msg_busy' else 'msg_' || n end, '{}', ${isoTime(startMs)}::timestamptz + n * interval '1 second', n
    from json_to_recordset(${jsonRows(ids)}::text::json) as t(n integer, id text)`
}

test('every combination of filters of the event feed is answered through an index, with statistics and without', async (t) => {
  const world = await startPlatform(t)
  const feed = feedService(world.platform)
  await fill(world.pool)
  const at = (n: number) => isoTime(startMs + n * 1000)
  const times: FeedQuery[] = [
    {},
    { created_before: at(20) },
    { created_after: at(many - 20) },
    { created_after: at(many / 2), created_before: at(many / 2 + 5) },
  ]
  const queries: FeedQuery[] = [undefined, ...filters].flatMap((type) =>
    [undefined, 'msg_rare', 'msg_none', ...(type === undefined ? ['msg_busy'] : [])].flatMap((object_id) =>
      (['asc', 'desc'] as const).flatMap((order) =>
        times.map((time) => ({
          order,
          ...time,
          ...(type === undefined ? {} : { type }),
          ...(object_id === undefined ? {} : { object_id }),
        })),
      ),
    ),
  )
  const explain = explaining(t, world.database_url)
  const check = async () => {
    for (const query of queries) {
      const plans = await explain((sql) => feed.list(sql, eventTenant, query, { limit: 20, starting_after: undefined }))
      assert.ok(!readsWholly(plans, 'events'), `${JSON.stringify(query)} reads every event`)
      assert.ok(plans.read <= readMax, `${JSON.stringify(query)} reads ${plans.read} rows`)
    }
  }

  await check()
  await world.pool`analyze events`
  await check()
})
