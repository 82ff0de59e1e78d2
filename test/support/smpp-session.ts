/** An SMPP session with a test SMSC. */
import type { TestContext } from 'node:test'
import type { Connection, OutboundMessage, CallbackItem, StoreItems } from '../../src/providers/provider.ts'
import { withRedactedSecrets } from '../../src/modules/channels/secret-redaction.ts'
import { smpp } from '../../src/providers/smpp/smpp.ts'
import { fakeClock } from './clock.ts'
import { messageOf } from './conformance/send-attempts.ts'
import { providerTools } from './provider-tools.ts'
import { smsc, type Smsc, type SmscOptions } from './simulators/smsc.ts'

export const never = new AbortController().signal
export const to = '+4915112345678'

export const connectionTo = (
  { port }: { readonly port: number },
  settings: object = {},
  credentials: object = {},
): Connection => ({
  channel_id: 'ch_1',
  type: 'sms',
  identifier: '+4915100000001',
  credentials: { host: '127.0.0.1', port, system_id: 'shop', password: 'secret', ...credentials },
  settings: { enquire_link_seconds: 600, ...settings },
  webhook_url: 'https://example.com/hooks/channels/ch_1',
})

interface Options {
  readonly settings?: object
  readonly credentials?: object
  readonly smsc?: SmscOptions
}

export async function linked(t: TestContext, { settings, credentials, smsc: options }: Options = {}) {
  const sim = await smsc(t, options)
  const clock = fakeClock()
  const adapter = withRedactedSecrets(smpp, smpp.adapter(providerTools({ clock, allowed_hosts: [sim.host] })))
  const items: CallbackItem[] = []
  const raw: Uint8Array[] = []
  const ignored: string[] = []
  const storing: { fails: boolean } = { fails: false }
  const lease: { own: boolean } = { own: true }
  const connection = connectionTo(sim, settings, credentials)
  const open = async ({ anew = false } = {}) => {
    const tell: StoreItems = async (received, bytes, why) => {
      if (storing.fails) throw new Error('the database is away')
      items.push(...received)
      raw.push(bytes)
      if (why !== undefined) ignored.push(why)
    }
    const opened = await adapter.openSession!(anew ? { ...connection } : connection, {
      store: tell,
      signal: never,
      hasLease: () => lease.own,
    })
    if (opened.kind !== 'open') throw new Error(opened.message)
    t.after(() => opened.session.close(AbortSignal.abort()))
    return opened.session
  }
  const session = await open()
  const send = (body: string, more: Partial<OutboundMessage> = {}, signal = never, by = session) =>
    by.send!(messageOf(connection, { to, content: { body }, ...more }), signal)
  return { sim, clock, session, open, send, items, raw, ignored, storing, lease }
}

export const bodyOf = ({ bytes, esm_class }: Smsc['submitted'][number]) =>
  (esm_class & 0x40) === 0 ? bytes : bytes.subarray(bytes[0]! + 1)
