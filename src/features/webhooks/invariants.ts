/** The truths of webhooks that `posthorn doctor` proves inside one snapshot. */
import type { Db } from '../../platform/database/sql.ts'
import type { Invariant, Platform } from '../../platform/platform.ts'
import { heldFeed } from '../../platform/feed-horizon.ts'
import * as audit from './invariants-store.ts'

const reported =
  <T>(find: (sql: Db) => Promise<T[]>, say: (row: T) => string) =>
  async (sql: Db) =>
    (await find(sql)).map(say)

export const webhookInvariants = ({ clock }: Pick<Platform, 'clock'>): readonly Invariant[] => [
  {
    name: 'delivery-in-one-place',
    breaches: reported(
      audit.deliveriesTwice,
      (row) => `The delivery ${row.id} of endpoint ${row.endpoint_id} stands in more than one of queue, retries and record.`,
    ),
  },
  {
    name: 'subscriptions-match-endpoints',
    breaches: reported(
      audit.strayEndpoints,
      (row) =>
        `The endpoint ${row.id} is ${row.status}, but its subscriptions are ${row.subscribed === '' ? 'none' : row.subscribed} instead of ${row.events}.`,
    ),
  },
  {
    name: 'failed-deliveries-are-listed',
    breaches: reported(audit.unlistedFailures, (row) => `The delivery ${row.id} of endpoint ${row.endpoint_id} and the list of failed deliveries disagree.`),
  },
  { name: 'feed-is-not-held-up', breaches: (sql) => heldFeed(sql, clock) },
  {
    name: 'fan-out-is-not-ahead',
    breaches: reported(
      audit.cursorAhead,
      (row) => `The fan-out cursor stands at ${row.position}, above the horizon of the feed ${row.horizon}: events in between would be missed.`,
    ),
  },
  {
    name: 'deliveries-in-memory-move-on',
    breaches: reported(
      audit.staleHandoffs,
      (row) => `Of ${row.size} deliveries handed off to process ${row.process_id} at ${row.created_at} some are neither recorded nor queued.`,
    ),
  },
]
