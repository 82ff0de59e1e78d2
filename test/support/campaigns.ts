/** Helpers for campaigns. */
import type { TestContext } from 'node:test'
import type { Api } from './api.ts'
import { startWorld, type World } from './world.ts'

const sendingWorkers = ['campaigns', 'dispatch', 'callbacks', 'project-campaigns']

export async function passFor(world: World, ms: number, step_ms = 100): Promise<void> {
  const work = async (): Promise<void> => {
    await world.settle('campaign-snapshots')
    await world.tick(...sendingWorkers)
  }
  for (let passed = 0; passed < ms; passed += step_ms) {
    await work()
    await world.clock.advance(step_ms)
  }
  await work()
}

export async function liveSms(
  t: TestContext,
  {
    credit_micros = 1_000_000_000,
    settings = {},
  }: { readonly credit_micros?: number; readonly settings?: object } = {},
) {
  const world = await startWorld(t)
  const account = await world.account({ mode: 'live', credit_micros })
  const body = {
    type: 'sms',
    provider: 'simulator',
    name: 'Sender',
    identifier: '+4915100000000',
    credentials: {},
    settings,
  }
  const made = await account.api.post('/v1/channels', body)
  if (made.status !== 201) throw new Error(`the channel was not connected: ${JSON.stringify(made.body)}`)
  return { world, account, api: account.api, channel: made.body.id as string }
}

export const numbers = (count: number, first = 0): { to: string }[] =>
  Array.from({ length: count }, (_, i) => ({ to: `+4915${String(10_000_000 + first + i)}` }))

export const campaignTo = (recipients: readonly object[], more: object = {}) => ({
  name: 'Spring sale',
  channel: 'ch_test_sms',
  audience: { type: 'adhoc', recipients },
  message: { type: 'text', text: { body: 'Hello' } },
  ...more,
})

export async function launched(api: Api, body: object) {
  const answer = await api.post('/v1/campaigns', { consent_declared: true, launch: true, ...body })
  if (answer.status !== 201) throw new Error(`the campaign was not launched: ${JSON.stringify(answer.body)}`)
  return answer.body
}

export const readCampaign = async (api: Api, id: string) => (await api.get(`/v1/campaigns/${id}`)).body

export async function eventsOf(world: World, api: Api, id: string) {
  await world.settle('fan-out')
  return (await api.get(`/v1/events?type=campaign.*&object_id=${id}&order=asc&limit=100`)).body.data
}

export async function outcomesOf(api: Api, id: string): Promise<string[]> {
  const { data } = (await api.get(`/v1/campaigns/${id}/recipients?limit=100`)).body
  return data.map((each: { status: string; skip_reason: string | null; error: { code: string } | null }) =>
    [each.status, each.skip_reason ?? each.error?.code].filter(Boolean).join(' '),
  )
}
