/** Bench `native-webhooks`: shop webhooks, verified and stored, beside accepted messages. */
import { wooCommerceWebhook, readSample, shopifyWebhook } from '../test/support/shop-webhooks.ts'
import { countCpu } from './cpu.ts'
import { startDriver, type Driver } from './drive.ts'
import { compared, interleaved, single, type Measurement } from './figures.ts'
import { connections, medianOf, paths, sendRound, type Round } from './rounds.ts'
import { call, startService, type Service } from './service.ts'

const secret = 'shpss_0123456789abcdef0123456789abcdef'

interface Shop {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly signed: string
  readonly body: string
}

/** As a shop writes it: no blanks, ids of real length. */
const compact = (name: string): string =>
  readSample(name)
    .replaceAll(/\n\s*/g, '')
    .replaceAll(/\d{18}/g, (id) => id.slice(0, 13))

async function shopOf(
  { port, keys }: Service,
  platform: 'shopify' | 'woocommerce',
  external_id: string,
): Promise<string> {
  const { id } = await call<{ id: string }>(port, keys[0]!, 'POST', '/v1/integration_sources', {
    platform,
    external_id,
  })
  await call(port, keys[0]!, 'PATCH', `/v1/integration_sources/${id}`, { signing_secret: secret })
  return id
}

async function shopify(service: Service, external_id: string): Promise<Shop & { readonly source_id: string }> {
  const source_id = await shopOf(service, 'shopify', external_id)
  const body = compact('shopify/orders-paid')
    .replaceAll('8209829119461', '8209{n}')
    .replaceAll('1153106273147', '1153{n}')
    .replaceAll('030 1234567', '+49151{n}')
    .replaceAll('erika@example.com', 'erika{n}@example.com')
  const { 'x-shopify-hmac-sha256': _, ...headers } = shopifyWebhook('orders/paid', secret, '', {
    event_id: '{n}',
  }).headers
  return { source_id, path: `/v1/ingest/shopify/${source_id}`, headers, signed: 'x-shopify-hmac-sha256', body }
}

async function woocommerce(service: Service): Promise<Shop> {
  const body = compact('woocommerce/order.updated-processing')
    .replace('"id": 727', '"id": {n}')
    .replaceAll('(11) 98765-4321', '+49151{n}')
    .replaceAll('joao@', 'joao{n}@')
  const { 'x-wc-webhook-signature': _, ...headers } = wooCommerceWebhook('order.updated', secret, '').headers
  return {
    path: `/v1/ingest/woocommerce/${await shopOf(service, 'woocommerce', 'loja')}`,
    headers,
    signed: 'x-wc-webhook-signature',
    body,
  }
}

async function round(
  driver: Driver,
  service: Service,
  { path, headers, signed, body }: Shop,
  seconds: number,
  rate?: number,
): Promise<Round> {
  const counted = countCpu(service.pid, service.postmaster)
  const work = { kind: 'ingest', path, headers, signed, secret, body } as const
  const report = await driver.run({
    host: '127.0.0.1',
    port: service.port,
    connections,
    seconds,
    keys: [],
    work,
    ...(rate === undefined ? {} : { rate }),
  })
  const { node_us, postgres_us } = counted()
  return { ...report, node_us: node_us / report.answers, postgres_us: postgres_us / report.answers }
}

async function automate({ port, keys, channel }: Service, source_id: string): Promise<void> {
  const message = { type: 'text', text: { body: 'Thank you for {{data.order.number}}.' } }
  await call(port, keys[0]!, 'POST', '/v1/automations', {
    source_id,
    name: 'Thanks',
    event_type: 'order.paid',
    channel_id: channel,
    delay_seconds: 86_400,
    message,
  })
}

export const nativeWebhooks: Measurement = {
  name: 'ingest',
  title: 'Native webhooks',
  async run({ quick, say }) {
    using driver = startDriver()
    await using service = await startService({ roles: paths.accept.roles })
    const shops = {
      shopify: await shopify(service, 'haus'),
      automated: await shopify(service, 'heim'),
      woocommerce: await woocommerce(service),
    }
    await automate(service, shops.automated.source_id)
    const seconds = quick ? 1.5 : 3
    const rounds = quick ? 3 : 5
    const contenders = {
      messages: () => sendRound(driver, service, service, { seconds }),
      shopify: () => round(driver, service, shops.shopify, seconds),
      automated: () => round(driver, service, shops.automated, seconds),
      woocommerce: () => round(driver, service, shops.woocommerce, seconds),
    }
    say('ingest: warming up')
    await interleaved(1, contenders)
    say(`ingest: ${rounds} rounds`)
    const found = await interleaved(rounds, contenders)
    const of = (name: keyof typeof contenders, field: Parameters<typeof medianOf>[1]) => medianOf(found[name]!, field)
    const messages = (field: Parameters<typeof medianOf>[1]) => ({
      name: 'messages accepted',
      value: of('messages', field),
    })
    say('ingest: open loop')
    const offered = of('shopify', 'rate') * 0.7
    const open: Round[] = []
    for (let n = 0; n < rounds; n++) open.push(await round(driver, service, shops.shopify, seconds, offered))
    return {
      figures: [
        compared('orders of Shopify a second', '/s', of('shopify', 'rate'), messages('rate'), { least: 0.5 }),
        compared('orders of WooCommerce a second', '/s', of('woocommerce', 'rate'), messages('rate'), { least: 0.5 }),
        compared('… of Shopify, each making a run that waits', '/s', of('automated', 'rate'), messages('rate')),
        compared('Node CPU for an order of Shopify', 'µs', of('shopify', 'node_us'), messages('node_us')),
        compared('PostgreSQL CPU for an order of Shopify', 'µs', of('shopify', 'postgres_us'), messages('postgres_us')),
        compared('Node CPU for an order of WooCommerce', 'µs', of('woocommerce', 'node_us'), messages('node_us')),
        compared(
          'PostgreSQL CPU for an order of WooCommerce',
          'µs',
          of('woocommerce', 'postgres_us'),
          messages('postgres_us'),
        ),
        compared('p99 answer, closed loop', 'ms', of('shopify', 'p99_ms'), messages('p99_ms')),
        single(`p99 answer, open loop at 70 % (${Math.round(offered)}/s)`, 'ms', medianOf(open, 'p99_ms'), {
          most: 50,
        }),
      ],
      notes: [
        `One source of each shop, ${connections} connections. Every order has a new customer, who is saved as a contact; an order of Shopify, with two lines, has ${Math.round(shops.shopify.body.length / 1024)} KB, one of WooCommerce ${Math.round(shops.woocommerce.body.length / 1024)} KB.`,
        'The load generator makes and signs the orders before measuring.',
      ],
    }
  },
}
