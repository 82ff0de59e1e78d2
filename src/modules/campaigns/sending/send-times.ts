/** Windows at the hand-over: a message that is accepted and still waits when its recipient's window closes goes when that one opens next (behaviour: campaigns 5). */
import { tenantOf } from '../../../api/caller.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { SendTimes } from '../../messages/service.ts'
import { findTimezones } from '../recipient-store.ts'
import { findCampaigns } from '../store.ts'
import { recipientOf } from '../producer.ts'
import { WindowTable, windowOf, type SendWindow } from './windows.ts'

/** What a launched campaign keeps to the end. */
interface Schedule {
  readonly window: SendWindow
  readonly timezone: string
  readonly recipient_timezone: boolean
}

const rememberedMax = 10_000

export function campaignSendTimes({ pool, clock }: Pick<Platform, 'pool' | 'clock'>): SendTimes {
  const windows = new WindowTable()
  /** Null: it has no window. */
  const schedules = new Map<string, Schedule | null>()
  type Rows = Parameters<SendTimes['notBefore']>[0]

  const learn = async (rows: Rows): Promise<void> => {
    if (schedules.size > rememberedMax) schedules.clear()
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
