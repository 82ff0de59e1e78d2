/** Handles domain events in the transactions that publish them (behaviour: integrations 5.7). */
import type { DomainEventPayloads } from '../../api/domain-events.ts'
import { isoTime } from '../../lib/clock.ts'
import { changeOfLocked } from './automation-service.ts'
import { pauseAutomations, sourcesOfChannel } from './repository.ts'
import { lockSource } from './sources/repository.ts'
import { type Db, transact } from '../../platform/database/sql.ts'
import type { Platform } from '../../platform/platform.ts'

/** Lock order: sources, runs, wallets. */
export const pauseOfChannel =
  ({ clock }: Platform) =>
  async (sql: Db, events: readonly DomainEventPayloads['channel_deleted'][]): Promise<void> => {
    await transact(sql, async (tx) => {
      for (const event of events) {
        for (const source_id of await sourcesOfChannel(tx, event, event.channel_id)) {
          if ((await lockSource(tx, event, source_id)) === null) continue
          await changeOfLocked(tx, event, source_id, () =>
            pauseAutomations(tx, event, source_id, event.channel_id, isoTime(clock.now())),
          )
        }
      }
    })
  }
