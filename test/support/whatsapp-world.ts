/** A live account with the simulated Graph API. */
import type { TestContext } from 'node:test'
import { closing } from './closing.ts'
import { startWhatsapp } from './simulators/whatsapp.ts'
import { startWorld } from './world.ts'

/** Approved, `en_US`, without variables. */
export const approvedTemplate = (name: string, more: object = {}) => ({
  id: `1${name}`,
  name,
  language: 'en_US',
  status: 'APPROVED',
  category: 'UTILITY',
  parameter_format: 'POSITIONAL',
  components: [{ type: 'BODY', text: 'Hello' }],
  rejected_reason: 'NONE',
  ...more,
})

/** `connect` creates the channel and copies the templates. */
export async function whatsappWorld(
  t: TestContext,
  { credit_micros = 1_000_000_000 }: { readonly credit_micros?: number } = {},
) {
  const graph = await startWhatsapp()
  closing(t, () => graph.close())
  const world = await startWorld(t, { settings: { provider_urls: { POSTHORN_WHATSAPP_GRAPH_URL: graph.url } } })
  const { api } = await world.account({ mode: 'live', credit_micros })
  const connect = (credentials: object = {}, more: object = {}) =>
    api.post('/v1/channels', {
      type: 'whatsapp',
      provider: 'whatsapp_cloud',
      name: 'Shop',
      credentials: { ...graph.credentials, ...credentials },
      ...more,
    })
  return { graph, world, api, connect }
}
