/** The truths of webhooks that `posthorn doctor` proves inside one snapshot. */
import { idFloor } from '../../lib/ids.ts'
import { invariant } from '../../platform/invariants.ts'
import type { Invariant, Platform } from '../../platform/platform.ts'
import { heldFeed } from '../../platform/events/feed-horizon.ts'
import * as audit from './invariants-store.ts'

/** Events are looked through so far back: each is a look into what is on record. */
const lookedBackMs = 3600_000

export const webhookInvariants = ({ clock }: Pick<Platform, 'clock'>): readonly Invariant[] => [
  invariant(
    'delivery-in-one-place',
    audit.deliveriesTwice,
    (row) =>
      `The delivery ${row.id} of endpoint ${row.endpoint_id} stands in more than one of queue, retries and record.`,
  ),
  invariant(
    'subscriptions-match-endpoints',
    audit.strayEndpoints,
    (row) =>
      `The endpoint ${row.id} is ${row.status}, but its subscriptions are ${row.subscribed === '' ? 'none' : row.subscribed} instead of ${row.events}.`,
  ),
  invariant(
    'failed-deliveries-are-listed',
    audit.unlistedFailures,
    (row) => `The delivery ${row.id} of endpoint ${row.endpoint_id} and the list of failed deliveries disagree.`,
  ),
  { name: 'feed-is-not-held-up', breaches: (sql) => heldFeed(sql, clock) },
  invariant(
    'fan-out-is-not-ahead',
    audit.cursorAhead,
    (row) =>
      `The fan-out cursor stands at ${row.position}, above the horizon of the feed ${row.horizon}: events in between would be missed.`,
  ),
  invariant(
    'events-reach-their-subscribers',
    (sql) => audit.missedEvents(sql, idFloor('evt', clock.now() - lookedBackMs)),
    (row) =>
      `The event ${row.id} lies behind the fan-out, and the endpoint ${row.endpoint_id}, which subscribes to ${row.type}, has no delivery of it.`,
  ),
  invariant(
    'deliveries-in-memory-move-on',
    audit.staleHandoffs,
    (row) =>
      `Of ${row.size} deliveries handed off to process ${row.process_id} at ${row.created_at} some are neither recorded nor queued.`,
  ),
]
