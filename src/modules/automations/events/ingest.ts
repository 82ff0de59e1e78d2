/** Receives webhooks of shops and sites, and stores each event before the answer (behaviour: integrations 4). */
import { Problem, retrySoon } from '../../../api/problem.ts'
import { automationEventTypes, type AutomationEvent } from '../../../api/resources/automation-event.ts'
import { isoTime } from '../../../lib/clock.ts'
import { parseBody } from '../../../platform/http/body.ts'
import type { SignedRequest } from '../../../platform/http/route.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { SourceEvent } from '../../../sources/event.ts'
import { commonPlatform, sourceOf } from '../../../sources/registry.ts'
import { insertRedaction } from '../redactions/repository.ts'
import type { WebhookSender, WebhookSenders } from '../sources/lookup.ts'
import type { BeforeCommit, IncomingEvent } from './event.ts'
import type { EventQueue } from './queue.ts'
import { findFirstOfStatuses } from './repository.ts'

export interface IngestDeps {
  readonly platform: Platform
  readonly senders: WebhookSenders
  readonly events: EventQueue
}

export type Received = AutomationEvent | { readonly ping: true }

export interface Ingest {
  /**
   * Refusals, in this order: resource_missing, account_suspended, source_disabled, payload_too_large,
   * webhook_signature_invalid, rate_limit_exceeded, invalid_json, parameter_missing, parameter_invalid.
   */
  receive(platform: string, source_id: string, request: Omit<SignedRequest, 'params'>): Promise<Received>
}

/** Per source and process: more than a busy shop sends at once. */
const inProgressMax = 256

export function eventIngest(deps: IngestDeps): Ingest {
  const inProgress = new Map<string, number>()
  return {
    async receive(slug, source_id, request) {
      const platform = slug.toLowerCase()
      const sender = await deps.senders.find(source_id)
      if (sender === null || (platform !== sender.platform && platform !== commonPlatform))
        throw new Problem(
          'resource_missing',
          'No integration source takes webhooks at this address. Copy it again from `ingest_urls` of the source.',
        )
      if (sender.suspended) throw new Problem('account_suspended')
      if (sender.disabled) throw new Problem('source_disabled')
      const source = sourceOf(platform)
      const body = await request.readBody(`ingest ${source_id}`)
      const json = () => parseBody(body)
      const webhook = { headers: request.raw.headers, body, arrived_at: request.arrived_at, json }
      if (source.isPing?.(webhook) === true) return { ping: true }
      const fault = sender.checkOf(source)(webhook)
      if (fault !== null) throw new Problem('webhook_signature_invalid', fault)
      // counted after the signature: a stranger cannot use up a source's limit
      const others = inProgress.get(source_id) ?? 0
      if (others >= inProgressMax) throw tooMany()
      inProgress.set(source_id, others + 1)
      try {
        const receipt = await accept(deps, sender, source.read(webhook), request.arrived_at)
        return source.stores_payload ? withoutPayload(receipt) : receipt
      } finally {
        const left = inProgress.get(source_id)! - 1
        if (left === 0) inProgress.delete(source_id)
        else inProgress.set(source_id, left)
      }
    },
  }
}

const tooMany = (): Problem =>
  new Problem(
    'rate_limit_exceeded',
    `More than ${inProgressMax} webhooks of this source are on their way at once. Send this one again in a moment.`,
    { headers: retrySoon },
  )

function withoutPayload(receipt: AutomationEvent): AutomationEvent {
  const { raw: _, ...data } = receipt.data
  return { ...receipt, data }
}

async function accept(
  deps: IngestDeps,
  sender: WebhookSender,
  event: SourceEvent,
  arrived_at: number,
): Promise<AutomationEvent> {
  const incoming = incomingEvent(sender, await withBuyer(deps, sender, event), arrived_at)
  return (await deps.events.accept(incoming, storeRedaction(sender, event))).receipt
}

function storeRedaction(
  { account_id, mode, id: source_id }: WebhookSender,
  { redaction }: SourceEvent,
): BeforeCommit | undefined {
  if (redaction === undefined) return undefined
  return async (tx, { receipt: { id, created_at }, duplicate }) => {
    if (!duplicate) await insertRedaction(tx, { account_id, mode, id, source_id, ...redaction, created_at })
  }
}

/**
 * Shipments and refunds have no buyer, or somebody else's address: an earlier event of the order has the buyer and the
 * consent.
 */
async function withBuyer({ platform }: IngestDeps, sender: WebhookSender, event: SourceEvent): Promise<SourceEvent> {
  const { buyer_unknown, order_id, customer } = event
  if (buyer_unknown !== true || order_id === undefined || order_id === null) return event
  const first = await findFirstOfStatuses(platform.pool, sender, sender.id, dedupKeysOf(order_id))
  return first === null
    ? event
    : {
        ...event,
        customer: { ...customer, ...first.customer },
        consent: first.consent,
        consent_this_event_only: true,
      }
}

/** (behaviour: integrations 3.4) */
const dedupKey = (type: string, order_id: string): string => `${type} ${order_id}`

const dedupKeysOf = (order_id: string): string[] =>
  automationEventTypes.filter((type) => type.startsWith('order.')).map((type) => dedupKey(type, order_id))

const orderIdLengthMax = 100

function incomingEvent({ account_id, mode, id }: WebhookSender, event: SourceEvent, now: number): IncomingEvent {
  const { order_id, redaction: _redaction, buyer_unknown: _buyer, occurred_at, ...content } = event
  return {
    ...content,
    source: { account_id, mode, id },
    origin: 'native_webhook',
    occurred_at: occurred_at ?? isoTime(now),
    ...(order_id === undefined || order_id === null || order_id.length > orderIdLengthMax
      ? {}
      : { dedup_key: dedupKey(content.type, order_id) }),
  }
}
