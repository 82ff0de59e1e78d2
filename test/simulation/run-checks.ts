/** Checks of automation runs: none changes after its end, and none waits without a reason. */
import type { Fragment, Pool } from '../../src/platform/database/sql.ts'

export interface CheckedRun {
  readonly id: string
  readonly account_id: string
  readonly source_id: string
  readonly automation_id: string
  readonly automation_event_id: string
  readonly contact_id: string | null
  readonly to: string | null
  readonly event_type: string
  readonly status: string
  readonly reason: string | null
  readonly message_id: string | null
  readonly customer: Record<string, unknown>
  readonly cancel_on: readonly string[]
  readonly channel_id: string
  /** null: the run may wait. */
  readonly stopped: string | null
}

export interface Stopped {
  readonly column: 'automation_id' | 'source_id' | 'account_id' | 'to'
  readonly id: string
  readonly account_id: string
  readonly why: string
}

export interface RunChecks {
  waiting(source_id: string | null, isSo: (run: CheckedRun) => boolean): Promise<CheckedRun[]>
  runs(ids: readonly string[]): Promise<CheckedRun[]>
  /** Nothing more may be sent for this until `release`. */
  expectStopped(stopped: Stopped): Promise<void>
  release(id: string): void
  forget(ids: readonly string[]): void
  breaches(): Promise<string[]>
}

/** Same phone, e-mail address or platform id. */
export function sameCustomer(one: object, other: object): boolean {
  const known = new Map(Object.entries(other))
  return Object.entries(one).some(
    ([name, value]) => ['phone', 'email', 'external_id'].includes(name) && known.get(name) === value,
  )
}

const readRuns = async (pool: Pool, where: Fragment): Promise<CheckedRun[]> =>
  await pool<CheckedRun[]>`
    select r.id, r.account_id, r.source_id, r.automation_id, r.automation_event_id, r.contact_id, r."to",
      r.event_type, r.status, r.reason, r.message_id, coalesce(e.customer, '{}') as customer, a.cancel_on, a.channel_id,
      case
        when s.deleted_at is not null then 'source deleted'
        when s.status <> 'active' then 'source disabled'
        when a.deleted_at is not null then 'automation deleted'
        when a.status <> 'active' then 'automation paused'
        when a.event_type <> r.event_type or a.channel_type <> r.channel_type then 'automation changed'
      end as stopped
    from automation_runs r
    left join automation_events e on e.id = r.automation_event_id
    join automations a on a.id = r.automation_id
    join integration_sources s on s.id = r.source_id
    ${where}
    order by r.id`

async function sentOf(pool: Pool, { column, id, account_id }: Stopped): Promise<number> {
  const [row] = await pool<{ sent: number }[]>`
    select count(*)::int as sent
    from automation_runs
    where account_id = ${account_id} and ${pool(column)} = ${id} and status = 'sent' and channel_type = 'sms'`
  return row!.sent
}

/** Second runs of an automation for one event, or for a customer whose cart or checkout restarts the run. */
function surplusRuns(rows: readonly CheckedRun[]): string[] {
  const found: string[] = []
  for (const [pair, some] of Map.groupBy(
    rows,
    ({ automation_id, automation_event_id }) => `${automation_id} and ${automation_event_id}`,
  ))
    if (some.length > 1) found.push(`${pair} have ${some.length} runs`)
  const restarting = rows.filter(
    ({ status, event_type }) => status === 'scheduled' && /^(cart|checkout)\./.test(event_type),
  )
  for (const [i, run] of restarting.entries())
    for (const other of restarting.slice(i + 1))
      if (run.automation_id === other.automation_id && sameCustomer(run.customer, other.customer))
        found.push(`${run.id} and ${other.id} wait for one customer`)
  return found
}

async function activeWithoutChannel(pool: Pool): Promise<string[]> {
  const found = await pool<{ id: string }[]>`
    select a.id
    from automations a
    join channels c on c.account_id = a.account_id and c.id = a.channel_id
    where c.deleted_at is not null and a.status = 'active' and a.deleted_at is null`
  return found.map(({ id }) => `${id} is active, and its channel is deleted`)
}

export function runChecks(pool: Pool): RunChecks {
  const stops = new Map<string, Stopped & { readonly sent: number }>()
  const ended = new Map<string, string>()
  const forgotten = new Set<string>()

  const read = (where = pool``) => readRuns(pool, where)
  return {
    async waiting(source_id, isSo) {
      const rows = await read(
        source_id === null
          ? pool`where r.status = 'scheduled'`
          : pool`where r.status = 'scheduled' and r.source_id = ${source_id}`,
      )
      return rows.filter(isSo)
    },
    runs: async (ids) => (ids.length === 0 ? [] : await read(pool`where r.id = any (${ids as string[]}::text[])`)),
    async expectStopped(stopped) {
      stops.set(stopped.id, { ...stopped, sent: await sentOf(pool, stopped) })
    },
    release: (id) => void stops.delete(id),
    forget: (ids) => ids.forEach((id) => forgotten.add(id)),
    async breaches() {
      const found: string[] = []
      const rows = await read()
      for (const run of rows) {
        const outcome = `${run.status} ${run.reason} ${run.message_id}`
        const before = ended.get(run.id)
        if (before !== undefined && before !== outcome) found.push(`${run.id} was ${before} and is ${outcome}`)
        if (run.status !== 'scheduled') ended.set(run.id, outcome)
        else if (run.stopped !== null) found.push(`${run.id} waits, ${run.stopped}`)
        if (run.status === 'sent' && forgotten.has(run.id))
          found.push(`${run.id} is sent, which waited while its account was suspended`)
        if ((run.status === 'sent') !== (run.message_id !== null)) found.push(`${run.id} is ${outcome}`)
      }
      found.push(...surplusRuns(rows))
      for (const stopped of stops.values()) {
        const sent = await sentOf(pool, stopped)
        if (sent !== stopped.sent)
          found.push(`${sent - stopped.sent} were sent of ${stopped.id} after the answer: ${stopped.why}`)
      }
      found.push(...(await activeWithoutChannel(pool)))
      return found
    },
  }
}
