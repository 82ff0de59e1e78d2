/**
 * Usage per day and channel: the counts of a batch, the period of a query, and its JSON (behaviour: billing 5.2, 5.3).
 */
import type { Mode } from '../../api/caller.ts'
import { invalid } from '../../api/problem.ts'
import type { UsageGroup, UsageRecord } from '../../api/resources/usage.ts'
import { isoTime } from '../../lib/clock.ts'

export interface UsageDelta {
  readonly account_id: string
  readonly mode: Mode
  /** YYYY-MM-DD in UTC. */
  readonly day: string
  readonly channel_type: string
  readonly channel_id: string
  readonly messages: number
  readonly package_credits: number
  readonly wallet_micros: number
  readonly refunded_credits: number
  readonly refunded_micros: number
}

export type UsageKey = Pick<UsageDelta, 'account_id' | 'mode' | 'day' | 'channel_type' | 'channel_id'>
type UsageCounts = Omit<UsageDelta, keyof UsageKey>

export const noUsage: UsageCounts = {
  messages: 0,
  package_credits: 0,
  wallet_micros: 0,
  refunded_credits: 0,
  refunded_micros: 0,
}

export const dayOf = (at: string): string => at.slice(0, 10)

export function mergeUsage(deltas: readonly UsageDelta[]): UsageDelta[] {
  const merged = new Map<string, UsageDelta>()
  for (const delta of deltas) {
    const key = [delta.account_id, delta.mode, delta.day, delta.channel_type, delta.channel_id].join(' ')
    const sum = merged.get(key) ?? { ...delta, ...noUsage }
    merged.set(key, {
      ...sum,
      messages: sum.messages + delta.messages,
      package_credits: sum.package_credits + delta.package_credits,
      wallet_micros: sum.wallet_micros + delta.wallet_micros,
      refunded_credits: sum.refunded_credits + delta.refunded_credits,
      refunded_micros: sum.refunded_micros + delta.refunded_micros,
    })
  }
  return [...merged.values()]
}

/** Test mode counts it at no cost. */
export function usageOfCharge(
  message: { account_id: string; mode: Mode; channel_type: string; channel_id: string; created_at: string },
  billing: { source: 'wallet' | 'package'; amount_micros: number },
): UsageDelta {
  return {
    account_id: message.account_id,
    mode: message.mode,
    day: dayOf(message.created_at),
    channel_type: message.channel_type,
    channel_id: message.channel_id,
    ...noUsage,
    messages: 1,
    package_credits: billing.source === 'package' ? 1 : 0,
    wallet_micros: billing.source === 'wallet' ? billing.amount_micros : 0,
  }
}

const dayMs = 24 * 3600_000
const daysDefault = 30
const daysMax = 366

/** The first date with a four-digit year. */
const firstDay = Date.parse('0001-01-01T00:00:00.000Z')

const midnight = (day: string): number => Date.parse(`${day}T00:00:00.000Z`)
const dayAt = (ms: number): string => dayOf(isoTime(ms))

/** Both inclusive: the last 30 days by default, at most 366. */
export function usagePeriod(query: { from?: string; to?: string }, now_ms: number): { from: string; to: string } {
  const today = midnight(dayAt(now_ms))
  const requested = query.from === undefined ? undefined : midnight(query.from)
  const to = query.to === undefined ? Math.max(today, requested ?? today) : midnight(query.to)
  const from = requested ?? Math.max(firstDay, to - (daysDefault - 1) * dayMs)
  if (from > to) throw invalid('from', 'invalid_value', '`from` must not be later than `to`.')
  if (to - from >= daysMax * dayMs)
    throw invalid(
      'from',
      'invalid_value',
      `A usage query covers at most ${daysMax} days, the first and the last included.`,
    )
  return { from: dayAt(from), to: dayAt(to) }
}

export const nextDay = (day: string): string => dayAt(midnight(day) + dayMs)

export const nextMonth = (day: string): string => {
  const [year, month] = [Number(day.slice(0, 4)), Number(day.slice(5, 7))]
  return dayAt(Date.UTC(year, month, 1))
}

export interface UsageSum {
  /** YYYY-MM-DD; the first of the month when grouped by month, null when grouped by channel. */
  readonly day: string | null
  readonly channel_type: string | null
  readonly channel_id: string | null
  readonly messages: number
  readonly package_credits: number
  readonly wallet_micros: number
  readonly refunded_credits: number
  readonly refunded_micros: number
}

/** A month is cut to the requested days, which its figures cover. */
export function usageObject(sum: UsageSum, days: { from: string; to: string }, group_by: UsageGroup): UsageRecord {
  const first = sum.day ?? days.from
  const end = group_by === 'day' ? nextDay(first) : group_by === 'month' ? nextMonth(first) : nextDay(days.to)
  const start = first < days.from ? days.from : first
  const { messages, package_credits, wallet_micros, refunded_credits, refunded_micros } = sum
  return {
    object: 'usage_record',
    period_start: `${start}T00:00:00.000Z`,
    period_end: `${end < nextDay(days.to) ? end : nextDay(days.to)}T00:00:00.000Z`,
    channel_type: sum.channel_type,
    channel_id: sum.channel_id,
    messages,
    package_credits,
    wallet_micros,
    refunded_credits,
    refunded_micros,
    currency: 'USD',
  }
}
