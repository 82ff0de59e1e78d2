/** Shop webhooks: samples with the platforms' headers and signatures. */
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const sources = join(import.meta.dirname, '../../src/sources')

export const shopSample = (name: string): string => JSON.stringify(JSON.parse(readSample(name), keepDigits))

export function readSample(name: string): string {
  const [source, sample] = name.split('/') as [string, string]
  return readFileSync(join(sources, source, 'samples', `${sample}.json`), 'utf8')
}

function keepDigits(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (
    typeof value !== 'number' ||
    context?.source === undefined ||
    Number.isSafeInteger(value) ||
    !Number.isInteger(value)
  )
    return value
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(context.source)
}

export interface ShopWebhook {
  readonly headers: Record<string, string>
  readonly body: string
}

/** Base64 HMAC-SHA256 of the raw body (https://shopify.dev/docs/apps/build/webhooks/subscribe/https, "Validate the origin of your webhook"). */
export function shopifyWebhook(
  topic: string,
  secret: string,
  body: string,
  { event_id = 'ad5d1a2c-5ab0-45eb-9d04-7b8a5a6e1f1c', ...more }: Record<string, string> = {},
): ShopWebhook {
  return {
    headers: {
      'content-type': 'application/json',
      'x-shopify-topic': topic,
      'x-shopify-shop-domain': 'haus.myshopify.com',
      'x-shopify-api-version': '2026-01',
      'x-shopify-webhook-id': 'b54557e4-bdd9-4b37-8a5f-bf7d70bcd043',
      'x-shopify-event-id': event_id,
      'x-shopify-triggered-at': '2026-01-31T09:30:00.877041743Z',
      'x-shopify-hmac-sha256': createHmac('sha256', secret).update(body, 'utf8').digest('base64'),
      ...more,
    },
    body,
  }
}

/** Follows `generate_signature` in https://github.com/woocommerce/woocommerce/blob/trunk/plugins/woocommerce/includes/class-wc-webhook.php. `decoded`: the secret after `wp_specialchars_decode`. */
export function wooCommerceWebhook(
  topic: string,
  decoded: string,
  body: string,
  more: Record<string, string> = {},
): ShopWebhook {
  const [resource, event] = topic.split('.') as [string, string]
  return {
    headers: {
      'content-type': 'application/json',
      'user-agent': 'WooCommerce/9.4.2 Hookshot (WordPress/6.7)',
      'x-wc-webhook-source': 'https://loja.example.com/',
      'x-wc-webhook-topic': topic,
      'x-wc-webhook-resource': resource,
      'x-wc-webhook-event': event,
      'x-wc-webhook-signature': createHmac('sha256', decoded).update(body, 'utf8').digest('base64'),
      'x-wc-webhook-id': '3',
      'x-wc-webhook-delivery-id': 'a1b2c3d4e5f60718293a4b5c6d7e8f90',
      ...more,
    },
    body,
  }
}

/** (behaviour: webhooks 4.2) */
export function customWebhook(secret: string, unixSeconds: number, body: string): ShopWebhook {
  const v1 = createHmac('sha256', secret).update(`${unixSeconds}.${body}`, 'utf8').digest('hex')
  return { headers: { 'content-type': 'application/json', 'service-signature': `t=${unixSeconds},v1=${v1}` }, body }
}
