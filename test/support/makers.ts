/** Creates an object of each kind that operations name by id, and example requests. */
import { requestExample } from '../../src/docs/openapi.ts'
import type { Route } from '../../src/platform/http/route.ts'
import { automationOf, happened, sourceOf } from './automations.ts'
import type { TestAccount, World } from './world.ts'

export const nameOf = (route: Route): string => `${route.method} ${route.path}`

export const pathWith = (route: Route, ids: readonly string[]): string => {
  let next = 0
  return route.path.replaceAll(/\{\w+\}/g, () => ids[next++] ?? 'x')
}

const bodies: Readonly<Record<string, unknown>> = {
  'PATCH /v1/contacts/{id}': { first_name: 'Ada' },
  'POST /v1/contact_lists/{id}/members': { contacts: ['ct_01m7z10y8texgrjk0p9bvk2cq6'] },
  'POST /v1/contact_lists/{id}/members/remove': { contacts: ['ct_01m7z10y8texgrjk0p9bvk2cq6'] },
  'PATCH /v1/channels/{id}': { name: 'Renamed' },
  'PATCH /v1/campaigns/{id}': { name: 'Renamed' },
  'PATCH /v1/webhook_endpoints/{id}': { description: 'Renamed' },
}

export const bodyOf = (route: Route): unknown =>
  bodies[nameOf(route)] ?? (route.body === undefined ? undefined : requestExample(route))

/** By the first words of the path; `live` ones exist only in live mode. */
export const makers: Readonly<
  Record<string, { readonly mode: 'live' | 'test'; make(world: World, owner: TestAccount): Promise<string[]> }>
> = {
  '/v1/channels/{id}': {
    mode: 'live',
    make: async (_world, { api }) => [
      (
        await api.post('/v1/channels', {
          type: 'sms',
          provider: 'simulator',
          name: 'S',
          identifier: '+15005550199',
          credentials: {},
        })
      ).body.id,
    ],
  },
  '/v1/contacts/{id}': {
    mode: 'test',
    make: async (_world, { api }) => [(await api.post('/v1/contacts', { phone: '+4915112345678' })).body.id],
  },
  '/v1/contact_lists/{id}': {
    mode: 'test',
    make: async (_world, { api }) => [(await api.post('/v1/contact_lists', { name: 'L' })).body.id],
  },
  '/v1/segments/{id}': {
    mode: 'test',
    make: async (_world, { api }) => [
      (
        await api.post('/v1/segments', {
          name: 'S',
          rules: { match: 'all', conditions: [{ field: 'tags', operator: 'contains_any', value: ['a'] }] },
        })
      ).body.id,
    ],
  },
  '/v1/campaigns/{id}': {
    mode: 'test',
    make: async (_world, { api }) => [
      (
        await api.post('/v1/campaigns', {
          name: 'C',
          channel: 'ch_test_sms',
          audience: { type: 'adhoc', recipients: [{ to: '+4915112345678' }] },
          message: { type: 'text', text: { body: 'x' } },
        })
      ).body.id,
    ],
  },
  '/v1/integration_sources/{id}': {
    mode: 'test',
    make: async (_world, { api }) => [
      (await api.post('/v1/integration_sources', { platform: 'custom', external_id: 'S' })).body.id,
    ],
  },
  '/v1/automation_events/{id}': {
    mode: 'test',
    async make(_world, { api }) {
      const source = await api.post('/v1/integration_sources', { platform: 'custom', external_id: 'S' })
      return [
        (await api.post('/v1/automation_events', { source: source.body.id, type: 'order.paid', event_id: 'E' })).body
          .id,
      ]
    },
  },
  '/v1/automations/{id}': {
    mode: 'test',
    async make(_world, { api }) {
      const source = await api.post('/v1/integration_sources', { platform: 'custom', external_id: 'S' })
      const message = { type: 'text', text: { body: 'x' } }
      return [
        (
          await api.post('/v1/automations', {
            name: 'A',
            source_id: source.body.id,
            event_type: 'order.paid',
            channel_id: 'ch_test_sms',
            message,
          })
        ).body.id,
      ]
    },
  },
  '/v1/automation_runs/{id}': {
    mode: 'test',
    async make({ platform }, account) {
      const automation = await automationOf(account, await sourceOf(account))
      return await happened(platform, account, automation, [{ to: '+4915112345678' }])
    },
  },
  '/v1/contact_imports/{id}': {
    mode: 'test',
    make: async (_world, { api }) => [
      (
        await api.post('/v1/contact_imports?consent_declared=true', 'phone\n+4915112345679\n', {
          'content-type': 'text/csv',
        })
      ).body.id,
    ],
  },
  '/v1/messages/{id}': {
    mode: 'test',
    make: async (_world, { api }) => [
      (
        await api.post('/v1/messages', {
          channel: 'ch_test_sms',
          to: '+15005550006',
          type: 'text',
          text: { body: 'x' },
        })
      ).body.id,
    ],
  },
  '/v1/events/{id}': {
    mode: 'test',
    async make(world, { api }) {
      await api.post('/v1/messages', { channel: 'ch_test_sms', to: '+15005550006', type: 'text', text: { body: 'x' } })
      await world.settle()
      return [(await api.get('/v1/events')).body.data[0].id]
    },
  },
  '/v1/webhook_endpoints/{id}': {
    mode: 'test',
    async make(world, { api }) {
      const endpoint = await api.post('/v1/webhook_endpoints', { url: world.receiver().url, events: ['*'] })
      const delivery = await api.post(`/v1/webhook_endpoints/${endpoint.body.id}/test`)
      return [endpoint.body.id, delivery.body.id]
    },
  },
}
