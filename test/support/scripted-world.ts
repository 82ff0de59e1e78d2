/** A live account with a channel of the scripted provider. */
import type { TestContext } from 'node:test'
import { scriptedProvider } from './scripted-provider.ts'
import { startWorld } from './world.ts'

/** A pass of every worker costs five times as much. */
export const sendingWorkers = ['dispatch', 'callbacks', 'links', 'reconnect', 'sessions']

export interface ScriptedOptions {
  readonly credit_micros?: number
  readonly settings?: object
}

export async function scriptedWorld(
  t: TestContext,
  { credit_micros = 1_000_000, settings = {} }: ScriptedOptions = {},
) {
  const provider = scriptedProvider()
  const world = await startWorld(t, { providers: [provider.provider] })
  const { api, id: account_id } = await world.account({ mode: 'live', credit_micros })
  const creation = { type: 'sms', provider: 'scripted', name: 'Alerts', credentials: {}, settings }
  let connected = 0
  /** Creates another channel; resolves to its id. */
  const connect = async () =>
    (await api.post('/v1/channels', { ...creation, identifier: `+491510000000${++connected}` })).body.id as string
  const channel = await connect()
  const message = (more: object = {}) => ({
    channel,
    to: '+4915112345678',
    type: 'text',
    text: { body: 'Hi' },
    ...more,
  })
  const eventTypes = async (of: string) =>
    (await api.get(`/v1/events?type=${of}&order=asc`)).body.data.map(
      ({ type }: { readonly type: string }) => type,
    ) as string[]
  return {
    world,
    api,
    account_id,
    provider,
    channel,
    connect,
    send: async (more: object = {}) => (await api.post('/v1/messages', message(more))).body.id as string,
    async sendMany(count: number, more: object = {}) {
      const { body } = await api.post('/v1/messages/batch', {
        messages: Array.from({ length: count }, () => message(more)),
      })
      if (body.accepted !== count) throw new Error(`not all were accepted: ${JSON.stringify(body)}`)
      return body.data.map((item: { message: { id: string } }) => item.message.id) as string[]
    },
    read: async (id: string) => (await api.get(`/v1/messages/${id}`)).body,
    events: () => eventTypes('message.*'),
    linkEvents: () => eventTypes('channel.*'),
    spent: async () => credit_micros - ((await api.get('/v1/balance')).body.wallet_micros as number),
    callBack: async (...reports: object[]) =>
      await fetch(`${world.base_url}/hooks/channels/${channel}`, { method: 'POST', body: JSON.stringify({ reports }) }),
    wait: async (ms: number) => {
      await world.clock.advance(ms)
      await world.settle()
    },
    async live(ms: number) {
      for (let passed = 0; passed < ms; passed += 1000) {
        await world.clock.advance(1000)
        await world.settle(...sendingWorkers)
      }
    },
  }
}
