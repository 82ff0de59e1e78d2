/** What automations do about facts of other features, in the transactions of those facts (behaviour: integrations 5.7). */
import type { FactPayloads } from '../../../api/domain-events.ts'
import { isoTime } from '../../../lib/clock.ts'
import { transact, type Db } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import { lockSource } from '../sources/store.ts'
import { changeOfLocked } from './changing.ts'
import { pauseAutomations, sourcesOfChannel } from './store.ts'

/** Automations that send on a channel that is deleted are paused. Sources are locked before runs, and both before wallets. */
export const pauseOfChannel =
  ({ clock }: Platform) =>
  async (sql: Db, facts: readonly FactPayloads['channel_deleted'][]): Promise<void> => {
    await transact(sql, async (tx) => {
      for (const fact of facts) {
        for (const source_id of await sourcesOfChannel(tx, fact, fact.channel_id)) {
          // one that is deleted at this moment takes its automations along
          if ((await lockSource(tx, fact, source_id)) === null) continue
          await changeOfLocked(tx, fact, source_id, () =>
            pauseAutomations(tx, fact, source_id, fact.channel_id, isoTime(clock.now())),
          )
        }
      }
    })
  }
