import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  customWebhook,
  shopifyWebhook,
  wooCommerceWebhook,
  type ShopWebhook,
} from '../../test/support/shop-webhooks.ts'
import { sourceOf } from './registry.ts'

const now = Date.parse('2026-01-31T09:30:00.000Z')
const seconds = now / 1000
const body = '{"id":1,"name":"Käse 🧀"}'

const faultOf = (platform: string, secret: string, { headers, body }: ShopWebhook, arrived_at = now) =>
  sourceOf(platform).signatureCheck(secret)({ headers, body: Buffer.from(body), arrived_at })

test("a platform's signature with the secret of the source is accepted", () => {
  assert.equal(faultOf('shopify', 'shpss_secret', shopifyWebhook('orders/paid', 'shpss_secret', body)), null)
  assert.equal(faultOf('woocommerce', 'wc secret', wooCommerceWebhook('order.updated', 'wc secret', body)), null)
  assert.equal(faultOf('custom', 'whsec_secret', customWebhook('whsec_secret', seconds, body)), null)
})

test('Shopify signs as openssl does', () => {
  // printf '%s' '{"id":1}' | openssl dgst -sha256 -hmac hush -binary | base64
  const webhook = shopifyWebhook('orders/paid', 'hush', '{"id":1}')

  assert.equal(webhook.headers['x-shopify-hmac-sha256'], 'VnKUjZsLuN5iZWjn5EntcBVCF9kMN43LglzCE1/GSeY=')
  assert.equal(faultOf('shopify', 'hush', webhook), null)
})

test('WooCommerce signs with its secret after WordPress decoded special characters once', () => {
  for (const [typed, decoded] of [
    ['a&amp;b', 'a&b'],
    ['&lt;tag&gt;', '<tag>'],
    ['&quot;q&quot; &#039;s&#039;', `"q" 's'`],
    ['&#39;&#034;&#x27;&#X0027;&#x22;', `'"''"`],
    ['&#060;&#62;&#0038;&#x26;', '<>&&'],
    ['&amp;lt;', '&lt;'],
    ['&copy;&#65;&amp', '&copy;&#65;&amp'],
    ['<plain> & "simple"', '<plain> & "simple"'],
  ] as const) {
    assert.equal(faultOf('woocommerce', typed, wooCommerceWebhook('order.created', decoded, body)), null, typed)
    if (typed !== decoded)
      assert.notEqual(faultOf('woocommerce', typed, wooCommerceWebhook('order.created', typed, body)), null, typed)
  }
})

test('a missing, wrong or malformed signature is refused', () => {
  const signed = {
    shopify: shopifyWebhook('orders/paid', 'right', body),
    woocommerce: wooCommerceWebhook('order.updated', 'right', body),
    custom: customWebhook('right', seconds, body),
  }
  const headers = {
    shopify: 'x-shopify-hmac-sha256',
    woocommerce: 'x-wc-webhook-signature',
    custom: 'service-signature',
  }
  for (const platform of ['shopify', 'woocommerce', 'custom'] as const) {
    const name = headers[platform]
    const { [name]: _, ...unsigned } = signed[platform].headers
    assert.match(faultOf(platform, 'right', { ...signed[platform], headers: unsigned })!, /is missing/)
    assert.match(faultOf(platform, 'wrong', signed[platform])!, /does not fit the body/)
    assert.match(faultOf(platform, 'right', { ...signed[platform], body: `${body} ` })!, /does not fit the body/)
    for (const nonsense of ['', 'x', 'ä'.repeat(44), signed[platform].headers[name]!.slice(0, -1)])
      assert.notEqual(
        faultOf(platform, 'right', { ...signed[platform], headers: { ...signed[platform].headers, [name]: nonsense } }),
        null,
        `${platform} ${nonsense}`,
      )
  }
})

test('a Service-Signature is valid for five minutes before and after its time, and one of several may match', () => {
  const webhook = customWebhook('right', seconds, body)
  const [t, v1] = webhook.headers['service-signature']!.split(',') as [string, string]
  const withHeader = (text: string) => ({ ...webhook, headers: { 'service-signature': text } })

  assert.equal(faultOf('custom', 'right', webhook, now + 300_000), null)
  assert.equal(faultOf('custom', 'right', webhook, now - 300_000), null)
  assert.match(faultOf('custom', 'right', webhook, now + 301_000)!, /minutes off/)
  assert.match(faultOf('custom', 'right', webhook, now - 301_000)!, /minutes off/)
  assert.equal(faultOf('custom', 'right', withHeader(`${t},v1=${'0'.repeat(64)},${v1}`)), null)
  assert.equal(
    faultOf('custom', 'right', withHeader(`${t}, ${v1.replace('v1=', 'v1=').toUpperCase().replace('V1=', 'v1=')}`)),
    null,
  )
  for (const other of [v1, t, `t=1e9,${v1}`, `${t},v0=${v1.slice(3)}`, `${t}${`,${v1}`.repeat(11)}`])
    assert.match(faultOf('custom', 'right', withHeader(other))!, /another form/, other)
})

test('a platform without its own source uses the common format', () => {
  assert.deepEqual(
    ['shopify', 'woocommerce', 'custom', 'magento'].map((platform) => sourceOf(platform).platform),
    ['shopify', 'woocommerce', 'custom', 'custom'],
  )
})
