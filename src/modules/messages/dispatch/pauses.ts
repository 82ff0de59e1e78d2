/** Stores pauses of throttled channels for other processes and operators. */
import { isoTime } from '../../../lib/clock.ts'
import { InOrder } from '../../../lib/concurrency.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { CircuitBreakers, PauseChange } from './circuit-breakers.ts'
import { deletePause, listPausesElsewhere, savePause } from './channels-repository.ts'
import type { ChannelRates } from './rates.ts'

export interface Pauses {
  /** The channel becomes slower. Never rejects. */
  begin(pause: PauseChange): Promise<void>
  end(channel_id: string): Promise<void>
  /** For channels that this process starts to dispatch. */
  adopt(channel_ids: readonly string[]): Promise<void>
  /** They are adopted again when this process dispatches the channel again. */
  dropUnowned(isMine: (channel_id: string) => boolean): void
}

export interface PausesDeps {
  readonly platform: Platform
  readonly circuitBreakers: CircuitBreakers
  readonly rates: ChannelRates
}

export function pauses({ platform: { pool, clock, process_id, log }, circuitBreakers, rates }: PausesDeps): Pauses {
  const adopted = new Set<string>()
  const write = lastOfEach()
  return {
    async begin({ account_id, channel_id, channel_type, until_ms, times, begins }) {
      const now = clock.now()
      const pace = begins ? rates.slow(channel_id, now, until_ms) : rates.slowUntil(channel_id, now, until_ms)
      const row = {
        account_id,
        channel_id,
        channel_type,
        process_id,
        times,
        pace,
        paused_at: isoTime(now),
        paused_until: isoTime(until_ms),
      }
      await write(channel_id, () => savePause(pool, row)).catch((error: unknown) =>
        log.error(
          { err: error, channel_id },
          'the pause of a channel could not be stored; only this process observes it',
        ),
      )
    },
    async end(channel_id) {
      await write(channel_id, () => deletePause(pool, channel_id)).catch((error: unknown) =>
        log.error({ err: error, channel_id }, 'the end of a pause could not be stored; the pause expires'),
      )
    },
    async adopt(channel_ids) {
      const fresh = channel_ids.filter((channel_id) => !adopted.has(channel_id))
      if (fresh.length === 0) return
      for (const { account_id, channel_id, channel_type, paused_until, times, pace } of await listPausesElsewhere(
        pool,
        fresh,
        process_id,
      )) {
        const until_ms = Date.parse(paused_until)
        if (
          !circuitBreakers.adopt({ account_id, mode: 'live', channel_id, channel_type, until_ms, times }, clock.now())
        )
          continue
        rates.slowTo(channel_id, pace, until_ms)
        log.info(
          { account_id, channel_id, times },
          'a channel that this process starts to dispatch is throttled by its provider; its messages wait',
        )
      }
      for (const channel_id of fresh) adopted.add(channel_id)
    },
    dropUnowned(isMine) {
      for (const channel_id of adopted) if (!isMine(channel_id)) adopted.delete(channel_id)
    },
  }
}

/** Orders writes per channel and skips superseded ones. */
function lastOfEach(): (channel_id: string, work: () => Promise<void>) => Promise<void> {
  const [writing, last] = [new InOrder(), new Map<string, () => Promise<void>>()]
  return async (channel_id, work) => {
    last.set(channel_id, work)
    await writing.run(channel_id, async () => {
      if (last.get(channel_id) !== work) return
      try {
        await work()
      } finally {
        if (last.get(channel_id) === work) last.delete(channel_id)
      }
    })
  }
}
