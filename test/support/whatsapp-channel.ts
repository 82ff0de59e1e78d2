/** A WhatsApp channel on the simulated Graph API, for adapter tests. */
import { createHmac } from 'node:crypto'
import { after } from 'node:test'
import type { Callback, Connection, OutboundMessage, CallbackItem } from '../../src/providers/provider.ts'
import { whatsappCloud } from '../../src/providers/whatsapp/whatsapp.ts'
import { fakeClock } from './clock.ts'
import { messageOf } from './conformance/send-attempts.ts'
import { providerTools } from './provider-tools.ts'
import { businessNumber, startWhatsapp } from './simulators/whatsapp.ts'

export const graph = await startWhatsapp()
after(() => graph.close())
const clock = fakeClock()
const tools = providerTools({ clock, url: graph.url })
after(() => tools.http.close())
export const adapter = whatsappCloud.adapter(tools)

export const connection: Connection = {
  channel_id: 'ch_1',
  type: 'whatsapp',
  identifier: businessNumber,
  credentials: graph.credentials,
  settings: {},
  webhook_url: 'https://example.com/hooks/channels/ch_1',
}
export const never = new AbortController().signal
export const message = (overrides: Partial<OutboundMessage> = {}): OutboundMessage =>
  messageOf(connection, { to: '+4915112345678', ...overrides })
export const { id } = message()
export const callback = (body: string | Uint8Array, secret = graph.credentials.app_secret): Callback => ({
  method: 'POST',
  url: connection.webhook_url,
  query: {},
  headers: { 'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}` },
  body: Buffer.from(body),
})
export const changes = (list: readonly object[], account = graph.credentials.business_account_id) =>
  JSON.stringify({ object: 'whatsapp_business_account', entry: [{ id: account, changes: list }] })
export const statusTime = '2025-06-15T23:27:53.000Z'
export const itemsOf = (...list: readonly object[]): readonly CallbackItem[] =>
  adapter.receiveCallback!(callback(changes(list)), connection)!.items
