/** Doors that commit every message by itself: in a transaction of several statements, or in the product's one statement. */
import type { BillingService } from '../../src/features/billing/service.ts'
import { door, type Door } from '../../src/features/messages/ingest/group-commit.ts'
import type { Handoff, Unit } from '../../src/features/messages/ingest/submission.ts'
import { followersOf } from '../../src/features/messages/transitions/followers.ts'
import type { Platform } from '../../src/platform/platform.ts'

const noHandoff: Handoff = { takes: () => false, process_id: 'bench', lease_ms: 60_000, offer: () => undefined }

/** The product's optimistic statement, once for each message: nothing shares a commit. */
export const doorByStatement = (platform: Platform, billing: BillingService): Door => ({
  submit: (unit) => door(platform, billing, followersOf(platform, []), noHandoff).submit(unit),
  drained: async () => undefined,
})

/** The product's locking path: a transaction of several statements for each message. */
export const doorByTransaction = (platform: Platform, billing: BillingService): Door => ({
  submit: (unit) => door(platform, billing, followersOf(platform, []), noHandoff).submit(locking(unit)),
  drained: async () => undefined,
})

/** The door takes the locking path for a unit that tells what its key is to store. */
const locking = (unit: Unit): Unit => ({ ...unit, storedReply: () => ({ status: 202, message_id: null, response: null }) })
