/** What commits of batches are made with. */
import type { Platform } from '../../../platform/platform.ts'
import type { BillingService } from '../../billing/service.ts'
import type { MessageRow } from '../message.ts'
import type { Projections } from '../projections.ts'
import type { Handoff } from './row.ts'
import type { Producers } from './producers.ts'

export interface CommitDeps {
  readonly platform: Platform
  readonly billing: BillingService
  readonly projections: Projections
  readonly producers: Producers
  readonly handoff: Handoff
  /** While it is true no other process takes requests or works: nobody else's commits wait for the same wallets. */
  readonly alone: () => boolean
  /** Hears of every accepted message after its commit, and must not wait for anything. */
  readonly emitted: (rows: readonly MessageRow[]) => void
}
