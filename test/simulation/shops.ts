/** Simulated shops, which report events by API and webhook, repeatedly and concurrently. */
import type { Answered } from '../support/api.ts'
import type { Random } from '../support/random.ts'
import { customWebhook, shopifyWebhook, type ShopWebhook } from '../support/shop-webhooks.ts'
import type { TestAccount, World } from '../support/world.ts'
import { sameCustomer, type RunChecks, type CheckedRun } from './run-checks.ts'
import type { SimulatedProcesses } from './processes.ts'

export interface Shop {
  readonly account: TestAccount
  readonly platform: 'custom' | 'shopify'
  readonly external_id: string
  id: string | null
  secret: string
}

interface PreparedEvent {
  readonly source_id: string
  readonly send: () => Promise<Answered | null>
  /** null: the platform creates it. */
  readonly event_id: string | null
  readonly customer: object
}

export interface Shops {
  readonly all: readonly Shop[]
  report(): Promise<void>
  /** null if the process was killed. */
  ask(method: string, path: string, key: string | undefined, body?: unknown): Promise<Answered | null>
  readonly faults: string[]
  readonly receipts: ReadonlyMap<string, string>
}

export const customers = 8
export const phoneOf = (n: number): string => `+491511234560${n}`
export const eventTypes = ['cart.updated', 'checkout.started', 'order.created', 'order.paid', 'custom.gift']
const topics = [
  'carts/update',
  'checkouts/update',
  'orders/create',
  'orders/paid',
  'orders/cancelled',
  'customers/update',
  'fulfillments/create',
  'refunds/create',
]
const refusals = [400, 401, 403, 404, 409, 422, 503]

interface Asking {
  readonly world: World
  readonly random: Random
  readonly ask: (
    method: string,
    path: string,
    key: string | undefined,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<Answered | null>
}

function prepareEvent(
  { world, random, ask }: Asking,
  shop: Shop & { readonly id: string },
  number: number,
): PreparedEvent {
  const { id: source_id, account, secret } = shop
  if (shop.platform === 'shopify' && random.below(4) > 0) {
    const { customer, webhook } = shopifyCall(random, secret, number)
    const send = () => ask('POST', `/v1/ingest/shopify/${source_id}`, undefined, webhook.body, webhook.headers)
    return { source_id, send, event_id: null, customer }
  }
  const event = eventOf(world, random, `event ${random.below(5) === 0 ? random.below(number) : number}`)
  const { event_id, customer } = event
  if (random.below(2) === 0)
    return {
      source_id,
      event_id,
      customer,
      send: () => ask('POST', '/v1/automation_events', account.key, { source: source_id, ...event }),
    }
  const send = () => {
    const webhook = customWebhook(secret, Math.floor(world.clock.now() / 1000), JSON.stringify(event))
    return ask('POST', `/v1/ingest/custom/${source_id}`, undefined, webhook.body, webhook.headers)
  }
  return { source_id, event_id, customer, send }
}

function receiptsNoted(faults: string[]) {
  const receipts = new Map<string, string>()
  const ofEvents = new Map<string, string>()
  const fresh = new Set<string>()
  const note = ({ source_id, event_id }: PreparedEvent, answer: Answered | null): boolean => {
    if (answer === null || answer.status >= 300) return false
    const { body } = answer
    const wrong = (what: string) => void faults.push(`${what}: ${JSON.stringify(body)}`)
    if (body.source_id !== source_id || (event_id !== null && body.event_id !== event_id))
      wrong('a receipt of something else')
    const key = `${body.source_id} ${body.event_id}`
    const known = ofEvents.get(key) ?? body.id
    ofEvents.set(key, known)
    receipts.set(body.id, source_id)
    if (known !== body.id) wrong(`a second receipt beside ${known}`)
    if (body.status === 'duplicate') return false
    if (fresh.has(body.id)) wrong('twice new')
    fresh.add(body.id)
    return true
  }
  return { receipts, note }
}

/** Runs that should have ended before the answer. */
function stillWaiting(
  before: readonly CheckedRun[],
  now: readonly CheckedRun[],
  { type, runs }: Answered['body'],
): string[] {
  const found: string[] = []
  const restarted = runs
    .filter((run: { reason: string | null }) => run.reason !== 'no_identifier')
    .map((run: { automation_id: string }) => run.automation_id)
  for (const run of now) {
    const known = before.find(({ id }) => id === run.id)!
    const cancels = known.cancel_on.includes(type) && run.cancel_on.includes(type)
    const restarts = /^(cart|checkout)\./.test(type) && restarted.includes(run.automation_id)
    if (run.status === 'scheduled' && (cancels || restarts))
      found.push(`${run.id} waits after the answer to a ${type} of the same customer`)
  }
  return found
}

export function shopsOf(
  world: World,
  random: Random,
  processes: SimulatedProcesses,
  shops: Shop[],
  checks: RunChecks,
): Shops {
  const faults: string[] = []
  const { receipts, note } = receiptsNoted(faults)
  const reported: PreparedEvent[] = []
  let number = 0

  async function ask(
    method: string,
    path: string,
    key: string | undefined,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answered | null> {
    const api = random.pick(processes.all).api(key)
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
    try {
      const answer = await api.send(
        method,
        path,
        text === undefined ? headers : { 'content-type': 'application/json', ...headers },
        text,
      )
      if (answer.status >= 400 && !refusals.includes(answer.status))
        faults.push(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
      return answer
    } catch (error) {
      // a killed process does not answer
      if (error instanceof Error && error.name === 'AssertionError') faults.push(`${method} ${path}: ${error.message}`)
      return null
    }
  }

  const make = (): PreparedEvent | null => {
    const shop = random.pick(shops)
    if (shop.id === null) return null
    number += 1
    return prepareEvent({ world, random, ask }, { ...shop, id: shop.id }, number)
  }

  /** Reports an event; the runs that it cancels must have ended before the answer. */
  const reportOne = async (prepared: PreparedEvent): Promise<void> => {
    const waiting = await checks.waiting(prepared.source_id, (run) => sameCustomer(run.customer, prepared.customer))
    const answer = await prepared.send()
    if (!note(prepared, answer)) return
    const now = await checks.runs(waiting.map(({ id }) => id))
    faults.push(...stillWaiting(waiting, now, answer!.body))
  }

  return {
    all: shops,
    ask,
    faults,
    receipts,
    async report() {
      const some: PreparedEvent[] = []
      for (let count = random.pick([1, 3, 6]); count > 0; count--) {
        const one = reported.length > 0 && random.below(4) === 0 ? random.pick(reported) : make()
        if (one === null) continue
        reported.push(one)
        some.push(...(random.below(4) === 0 ? [one, one] : [one]))
      }
      await Promise.all(some.map(reportOne))
    },
  }
}

function customerOf(random: Random) {
  const n = random.below(customers)
  const other = random.below(10) === 0 ? random.below(customers) : n
  return {
    ...(random.below(5) > 0 ? { phone: phoneOf(n) } : {}),
    ...(random.below(2) === 0 ? { email: `c${other}@example.com` } : {}),
    ...(random.below(3) === 0 ? { external_id: String(7000 + n) } : {}),
  }
}

function eventOf(world: World, random: Random, event_id: string) {
  const said = random.pick([undefined, undefined, true, false])
  return {
    type: random.pick(eventTypes),
    event_id,
    occurred_at: world.clock.iso(-random.below(100_000)),
    customer: {
      ...customerOf(random),
      first_name: random.pick(['Ada', 'Bo', '']),
      ...(random.below(4) === 0 ? { tags: [`tag${random.below(3)}`] } : {}),
    },
    consent: said === undefined ? {} : { [random.pick(['marketing', 'marketing', 'transactional'])]: said },
    data: { total: random.below(100) },
  }
}

function shopifyCall(random: Random, secret: string, number: number): { customer: object; webhook: ShopWebhook } {
  const { phone = null, email = null, external_id = null } = customerOf(random) as Record<string, string | undefined>
  const topic = random.below(12) === 0 ? 'customers/redact' : random.pick(topics)
  const order_id = 1000 + random.below(20)
  const customer = { id: external_id === null ? null : Number(external_id), email, phone }
  const ofCustomer = { ...customer, id: Number(external_id ?? 7777), first_name: 'Ada' }
  const bodies: Record<string, object> = {
    'carts/update': { id: `cart${order_id}`, token: `cart${order_id}`, line_items: [] },
    'customers/update': ofCustomer,
    'fulfillments/create': { id: number, order_id, status: 'success' },
    'refunds/create': { id: number, order_id },
    'customers/redact': { shop_id: 1, shop_domain: 'haus.myshopify.com', customer, orders_to_redact: [order_id] },
  }
  const body = JSON.stringify(
    bodies[topic] ?? {
      id: order_id,
      name: `#${order_id}`,
      email,
      phone,
      customer,
      total_price: '59.99',
      currency: 'EUR',
      line_items: [],
    },
  )
  const isOfNobody = ['carts/update', 'fulfillments/create', 'refunds/create', 'customers/redact'].includes(topic)
  const reported = {
    ...(phone === null ? {} : { phone }),
    ...(email === null ? {} : { email }),
    ...(external_id === null ? {} : { external_id }),
  }
  return {
    customer: isOfNobody ? {} : reported,
    webhook: shopifyWebhook(topic, secret, body, { event_id: `shopify ${number}` }),
  }
}
