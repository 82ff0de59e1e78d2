/** Takes the webhooks of shops and sites: who sends one and whether it is genuine, then what it tells, stored before it is acknowledged (behaviour: integrations 4). */
import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { Problem, retrySoon } from '../../../api/problem.ts'
import type { AutomationEvent } from '../../../api/resources/automation-event.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { SignedRequest } from '../../../platform/http/route.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { KeepReported, ReportedBySource } from '../reporting/reported.ts'
import type { Reporting } from '../reporting/reporting.ts'
import { findFirstOfStatuses } from '../reporting/store.ts'
import { readCustom } from './custom.ts'
import type { KnownSource, KnownSources } from './known-sources.ts'
import type { NativeEvent } from '../../../sources/native-event.ts'
import { onceKey, onceKeysOf } from '../../../sources/once-keys.ts'
import { readPayload } from '../../../sources/payload.ts'
import { insertRedaction } from './redaction-store.ts'
import { readShopify } from '../../../sources/shopify/shopify.ts'
import { schemeOf, signatureFault, type Scheme } from '../../../sources/signatures.ts'
import { isPing, readWooCommerce } from '../../../sources/woocommerce/woocommerce.ts'

export interface ReceiverDeps {
  readonly platform: Platform
  readonly sources: KnownSources
  readonly reporting: Reporting
}

/** What a webhook is answered with: its receipt, or `ping` for one that only asks whether somebody is there. */
export type Received = AutomationEvent | { readonly ping: true }

export interface Receiver {
  /** Refusals, in their order: resource_missing, account_suspended, source_disabled, payload_too_large, webhook_signature_invalid, rate_limit_exceeded, invalid_json, parameter_missing, parameter_invalid. */
  take(platform: string, source_id: string, request: Omit<SignedRequest, 'params'>): Promise<Received>
}

/** Webhooks of one source that this process has in hand at a time: more than a busy shop ever sends at once, and so few that nobody else waits for them. */
const inHandMax = 256

export function receiverOf(deps: ReceiverDeps): Receiver {
  const inHand = new Map<string, number>()
  return {
    async take(slug, source_id, request) {
      const platform = slug.toLowerCase()
      const source = await deps.sources.find(source_id)
      if (source === null || (platform !== source.platform && platform !== 'custom'))
        throw new Problem(
          'resource_missing',
          'No integration source takes webhooks at this address. Copy it again from `ingest_urls` of the source.',
        )
      if (source.suspended) throw new Problem('account_suspended')
      if (source.disabled) throw new Problem('source_disabled')
      const scheme = schemeOf(platform)
      const body = await request.readBody(`ingest ${source_id}`)
      const webhook = { source, scheme, headers: request.raw.headers, body, arrived_at: request.arrived_at }
      if (scheme === 'woocommerce' && isPing(webhook.headers, body)) return { ping: true }
      const fault = signatureFault(scheme, source.keyOf(scheme), webhook.headers, body, webhook.arrived_at)
      if (fault !== null) throw new Problem('webhook_signature_invalid', fault)
      // only what is genuine counts: nobody else can take a source's places
      const others = inHand.get(source_id) ?? 0
      if (others >= inHandMax) throw flooded()
      inHand.set(source_id, others + 1)
      try {
        return await keep(deps, webhook)
      } finally {
        const left = inHand.get(source_id)! - 1
        if (left === 0) inHand.delete(source_id)
        else inHand.set(source_id, left)
      }
    },
  }
}

/** One whose signature is good. */
interface Webhook {
  readonly source: KnownSource
  readonly scheme: Scheme
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** Milliseconds. */
  readonly arrived_at: number
}

const flooded = (): Problem =>
  new Problem(
    'rate_limit_exceeded',
    `More than ${inHandMax} webhooks of this source are on their way at once. Send this one again in a moment.`,
    {
      headers: retrySoon,
    },
  )

async function keep(deps: ReceiverDeps, { source, scheme, headers, body, arrived_at }: Webhook): Promise<Received> {
  if (scheme === 'custom')
    return await report(deps, { source, origin: 'native_webhook', ...readCustom(body, arrived_at) })
  const { payload, json } = readPayload(body)
  const call = { headers, payload, digest: () => hash('sha256', body, 'hex') }
  const event = scheme === 'shopify' ? readShopify(call) : readWooCommerce(call)
  const reported = reportedOf(source, await withBuyer(deps, source, event), arrived_at)
  const receipt = await report(
    deps,
    json === null || event.data['raw'] !== payload
      ? reported
      : { ...reported, data_json: dataAround(json, event.data) },
    keepRedaction(source, event),
  )
  // whoever sent the original has it, and it is nearly all that there is
  const { raw: _, ...data } = receipt.data
  return { ...receipt, data }
}

/** The JSON of an event's `data` whose `raw` is known as JSON already: it is nearly all of it. */
function dataAround(raw_json: string, data: NativeEvent['data']): string {
  const { raw: _, ...told } = data
  const json = JSON.stringify(told)
  return `${json.slice(0, -1)}${json === '{}' ? '' : ','}"raw":${raw_json}}`
}

const report = async (
  { reporting }: ReceiverDeps,
  event: ReportedBySource,
  keep?: KeepReported,
): Promise<AutomationEvent> => (await reporting.report(event, keep)).receipt

/** Keeps whom an event wants forgotten, once. */
function keepRedaction(
  { account_id, mode, id: source_id }: KnownSource,
  { redaction }: NativeEvent,
): KeepReported | undefined {
  if (redaction === undefined) return undefined
  return async (tx, { receipt: { id, created_at }, duplicate }) => {
    if (!duplicate) await insertRedaction(tx, { account_id, mode, id, source_id, ...redaction, created_at })
  }
}

/** A parcel or a refund is told without whose it is, or with somebody else's address: an earlier event of its order knows the buyer and what he agreed to. */
async function withBuyer({ platform }: ReceiverDeps, source: KnownSource, event: NativeEvent): Promise<NativeEvent> {
  const { buyer_untold, order_id, customer } = event
  if (buyer_untold !== true || order_id === null) return event
  const first = await findFirstOfStatuses(platform.pool, source, source.id, onceKeysOf(order_id))
  return first === null
    ? event
    : {
        ...event,
        customer: { ...customer, ...(first.customer as NativeEvent['customer']) },
        consent: first.consent,
        consent_passing: true,
      }
}

/** No platform has longer ones. */
const orderIdLengthMax = 100

function reportedOf({ account_id, mode, id }: KnownSource, event: NativeEvent, now: number): ReportedBySource {
  const { type, event_id, occurred_at, order_id, customer, consent, consent_passing, data, unmapped } = event
  return {
    source: { account_id, mode, id },
    origin: 'native_webhook',
    type,
    event_id,
    occurred_at: occurred_at ?? isoTime(now),
    customer,
    consent,
    data,
    ...(order_id === null || order_id.length > orderIdLengthMax ? {} : { once_key: onceKey(type, order_id) }),
    ...(consent_passing === true ? { consent_passing } : {}),
    ...(unmapped === true ? { unmapped } : {}),
  }
}
