/**
 * Send windows: times of day in a time zone. The start is inclusive, the end exclusive; an earlier end is on the next
 * day, an equal one means all day (behaviour: campaigns 5).
 */
import { Temporal } from 'temporal-polyfill'
import { tenantOf } from '../../../api/caller.ts'
import { recipientOf } from '../producer.ts'
import { findTimezones } from '../recipient-repository.ts'
import { findCampaigns } from '../repository.ts'
import type { SendTimes } from '../../messages/service.ts'
import type { Platform } from '../../../platform/platform.ts'

export interface SendWindow {
  readonly start: string
  readonly end: string
}

/** null: all day. */
export const windowOf = ({
  window_start: start,
  window_end: end,
}: {
  readonly window_start: string | null
  readonly window_end: string | null
}): SendWindow | null => (start === null || end === null ? null : { start, end })

/** `until` in ms; Infinity: always. */
export interface WindowState {
  readonly open: boolean
  readonly until: number
}

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
/** Daylight saving may skip a short window on one day. */
const changesMax = 1000

export function windowState(window: SendWindow | null, timezone: string, now: number): WindowState {
  if (window === null || window.start === window.end) return { open: true, until: Infinity }
  const [start, end] = [timeOfDayMs(window.start), timeOfDayMs(window.end)]
  const isOpenAt = (time: number): boolean => (start < end ? start <= time && time < end : start <= time || time < end)
  let at = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timezone)
  const open = isOpenAt(timeOfDayOf(at))
  for (let i = 0; i < changesMax; i++) {
    at = nextChange(at, open ? end : start)
    if (isOpenAt(timeOfDayOf(at)) !== open) break
  }
  return { open, until: at.epochMilliseconds }
}

/** Or when the clock is changed before that. */
function nextChange(at: Temporal.ZonedDateTime, time: number): Temporal.ZonedDateTime {
  const wait = (time - timeOfDayOf(at) + dayMs) % dayMs
  const then = at.add({ milliseconds: wait === 0 ? dayMs : wait })
  if (then.offsetNanoseconds === at.offsetNanoseconds) return then
  const set = at.getTimeZoneTransition('next')
  return set === null || set.epochMilliseconds > then.epochMilliseconds ? then : set
}

const timeOfDayMs = (text: string): number => {
  const [hours, minutes] = text.split(':').map(Number)
  return (hours! * 60 + minutes!) * minuteMs
}

const timeOfDayOf = ({ hour, minute, second, millisecond }: Temporal.ZonedDateTime): number =>
  (hour * 60 + minute) * minuteMs + second * 1000 + millisecond

const statesMax = 5000

/** Caches window states. Unknown time zones fall back to `otherwise`. */
export class WindowTable {
  readonly #states = new Map<string, WindowState & { readonly from: number }>()

  stateOf(window: SendWindow | null, timezone: string, otherwise: string, now: number): WindowState {
    if (window === null) return { open: true, until: Infinity }
    const key = `${window.start} ${window.end} ${timezone} ${otherwise}`
    const known = this.#states.get(key)
    if (known !== undefined && known.from <= now && now < known.until) return known
    const state = { ...stateIn(window, timezone, otherwise, now), from: now }
    if (this.#states.size >= statesMax) this.#states.clear()
    this.#states.set(key, state)
    return state
  }
}

function stateIn(window: SendWindow, timezone: string, otherwise: string, now: number): WindowState {
  try {
    return windowState(window, timezone, now)
  } catch (error) {
    if (!(error instanceof RangeError) || timezone === otherwise) throw error
    return windowState(window, otherwise, now)
  }
}

interface Schedule {
  readonly window: SendWindow
  readonly timezone: string
  readonly recipient_timezone: boolean
}

const schedulesMax = 10_000

export function campaignSendTimes({ pool, clock }: Pick<Platform, 'pool' | 'clock'>): SendTimes {
  const windows = new WindowTable()
  const schedules = new Map<string, Schedule | null>()
  type Rows = Parameters<SendTimes['notBefore']>[0]

  const learn = async (rows: Rows): Promise<void> => {
    if (schedules.size > schedulesMax) schedules.clear()
    const unknown = new Map(
      rows.flatMap((row) =>
        row.origin_id === null || schedules.has(row.origin_id) ? [] : [[row.origin_id, tenantOf(row)] as const],
      ),
    )
    if (unknown.size === 0) return
    for (const row of await findCampaigns(
      pool,
      [...unknown].map(([campaign_id, tenant]) => ({ ...tenant, campaign_id })),
    )) {
      const window = windowOf(row)
      schedules.set(
        row.id,
        window === null ? null : { window, timezone: row.timezone, recipient_timezone: row.recipient_timezone },
      )
    }
  }

  return {
    origin: 'campaign',
    async notBefore(rows) {
      await learn(rows)
      const timed = rows.flatMap((row) => {
        const schedule = schedules.get(row.origin_id ?? '')
        return schedule === undefined || schedule === null
          ? []
          : [{ row, schedule, recipient: recipientOf(row.submission_key) }]
      })
      const own = await findTimezones(
        pool,
        timed.flatMap(({ row, schedule, recipient }) =>
          schedule.recipient_timezone && recipient !== null
            ? [{ ...tenantOf(row), ...recipient, message_id: row.id }]
            : [],
        ),
      )
      const now = clock.now()
      return new Map(
        timed.flatMap(({ row, schedule: { window, timezone } }) => {
          const { open, until } = windows.stateOf(window, own.get(row.id) || timezone, timezone, now)
          return open ? [] : [[row.id, until] as const]
        }),
      )
    },
  }
}
