/** Optional projection while this checkout is compared: none, of other messages, or of the measured messages. */
import { join } from 'node:path'
import type { OriginType } from '../../src/api/resources/message.ts'
import type { Projection } from '../../src/modules/messages/projections.ts'
import type { Service, ServiceOptions } from '../service.ts'

export const followedKinds = ['none', 'other', 'messages'] as const
export type Followed = (typeof followedKinds)[number]

/** Measured messages come from the API. */
const origins: Readonly<Record<Exclude<Followed, 'none'>, OriginType>> = { other: 'campaign', messages: 'api' }

export const followedProgram = (followed: Followed): Pick<ServiceOptions, 'program'> =>
  followed === 'none' ? {} : { program: [join(import.meta.dirname, 'followed-service.ts'), followed] }

/** One key if there is a projection: each key is an origin, and each origin a row of transitions per commit. */
export const followedLoad = (followed: Followed): Pick<ServiceOptions, 'keys' | 'env'> =>
  followed === 'messages' ? { keys: 1, env: { POSTHORN_RATE_LIMIT_MESSAGES: '1000000' } } : {}

/** Counts messages by status. */
export const counter = (followed: Exclude<Followed, 'none'>): Projection => ({
  name: 'bench',
  origins: [origins[followed]],
  async apply(tx, rows) {
    const sums = new Map<string, number>()
    const add = (status: string, messages: number) => sums.set(status, (sums.get(status) ?? 0) + messages)
    for (const { from_status, status, message_ids } of rows) {
      if (from_status !== null) add(from_status, -message_ids.length)
      add(status, message_ids.length)
    }
    const statuses = [...sums.keys()].toSorted()
    await tx`
      insert into bench_counts (status, messages)
      select * from unnest(${statuses}::text[], ${statuses.map((status) => sums.get(status)!)}::bigint[])
      on conflict (status) do update set messages = bench_counts.messages + excluded.messages`
  },
})

export async function prepareCounts({ pool }: Service, followed: Followed): Promise<void> {
  if (followed !== 'none') await pool`create table bench_counts (status text primary key, messages bigint not null)`
}

/** Rejects unless the projection counted its messages and no others. */
export async function verifyCounts({ pool }: Service, followed: Followed): Promise<void> {
  if (followed === 'none') return
  const [found] = await pool<{ counted: string; expected: string }[]>`
    with folded as (
      select status, messages from bench_counts
      union all select status, sum(cardinality(message_ids)) from message_transitions group by status
      union all select from_status, -sum(cardinality(message_ids))
      from message_transitions
      where from_status is not null
      group by from_status
    ), counted as (
      select status, sum(messages)::bigint as messages from folded group by status having sum(messages) <> 0
    ), expected as (
      select status, count(*) as messages
      from messages
      where direction = 'outbound' and origin_type = ${origins[followed]}
      group by status
    )
    select coalesce((select json_object_agg(status, messages order by status) from counted), '{}')::text as counted,
      coalesce((select json_object_agg(status, messages order by status) from expected), '{}')::text as expected`
  if (found!.counted !== found!.expected)
    throw new Error(`the projection counted ${found!.counted}, and the messages are ${found!.expected}`)
}
