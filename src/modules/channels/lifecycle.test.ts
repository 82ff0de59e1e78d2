/** Connecting a channel, for every provider (behaviour: channels 2). */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Type } from 'typebox'
import type { Tenant } from '../../api/caller.ts'
import { Problem } from '../../api/problem.ts'
import type { Transaction } from '../../platform/database/sql.ts'
import { startWorld } from '../../../test/support/world.ts'
import type { ProviderAdapter, ConnectOutcome, Connection, Provider } from '../../providers/provider.ts'
import type { Adapters } from './adapters.ts'
import { channelCache } from './lookup.ts'
import { withRedactedSecrets } from './secret-redaction.ts'
import * as store from './repository.ts'
import {
  createChannel,
  reconnectChannel,
  removeChannel,
  updateChannel,
  type ChannelDeps,
  type ChannelUpdate,
} from './lifecycle.ts'

const provider: Provider = {
  name: 'pigeon_post',
  title: 'Pigeon Post',
  about: 'For this test.',
  types: ['sms'],
  offered: 'always',
  credentials: Type.Object({
    token: Type.String({ title: 'Token', description: 'On the ring.', format: 'password' }),
    verify_token: Type.Optional(Type.String({ title: 'Verify token', description: 'Any word.', format: 'password' })),
  }),
  settings: Type.Object({
    rings: Type.Optional(Type.Integer({ minimum: 1, title: 'Rings', description: 'On each leg.', default: 1 })),
  }),
  identifier: 'from_provider',
  capabilities: (_type, settings) => (settings['mms'] === true ? ['text', 'attachments'] : ['text']),
  adapter: () => ({}),
}

async function pigeons(t: TestContext, adapter: ProviderAdapter) {
  const world = await startWorld(t)
  const account = await world.account({ mode: 'live' })
  const { pool } = world.platform
  const adapters: Adapters = {
    providerOf: () => provider,
    adapterOf: () => withRedactedSecrets(provider, adapter),
    sessionProviders: [],
    sendsThroughSession: () => false,
    offered: () => [provider],
    connectable: () => [provider],
    close: async () => undefined,
  }
  const cache = channelCache(world.platform)
  const deps: ChannelDeps = { platform: world.platform, adapters, cache }
  const tenant = { account_id: account.id, mode: 'live' } as Tenant
  const kept: object[] = []
  const create = (more: object = {}, sql = pool) =>
    createChannel(
      deps,
      sql,
      tenant,
      { type: 'sms', name: 'Loft', credentials: { token: 'ring-4711' }, ...more },
      async (_tx, shown) => void kept.push(shown),
    )
  return {
    create,
    pool,
    kept,
    reconnect: (id: string) => reconnectChannel(deps, pool, tenant, id),
    update: (id: string, change: ChannelUpdate) => updateChannel(deps, pool, tenant, id, change),
    remove: (id: string) => removeChannel(deps, pool, tenant, id),
    credentialsOf: async (id: string) => {
      cache.forget()
      return cache.connection((await cache.find(tenant, id))!).credentials
    },
    count: async () => (await store.listChannels(pool, tenant, { limit: 100, starting_after: undefined })).length,
    refusal: async (made: Promise<unknown>) => {
      const error = await made.catch((thrown: unknown) => thrown)
      assert.ok(error instanceof Problem)
      return error
    },
  }
}

const connected = (identifier?: string): ProviderAdapter => ({
  connect: async (): Promise<ConnectOutcome> => ({
    kind: 'connected',
    ...(identifier === undefined ? {} : { identifier }),
  }),
})

test('a missing verify token is generated, shown once and registered; one in the request is not shown', async (t) => {
  const seen: Connection[] = []
  const { create, credentialsOf, remove } = await pigeons(t, {
    connect: async (connection) => {
      seen.push(connection)
      return { kind: 'connected', identifier: '+4915112345678' }
    },
  })

  const made = await create()
  const kept = await credentialsOf(made.id)
  await remove(made.id)
  const given = await create({ credentials: { token: 'ring-4711', verify_token: 'my-own' } })

  assert.match(made.verify_token!, /^[A-Za-z0-9_-]{32}$/)
  assert.deepEqual(kept, { token: 'ring-4711', verify_token: made.verify_token })
  assert.equal(seen[0]!.credentials['verify_token'], made.verify_token)
  assert.equal(seen[0]!.webhook_url.endsWith(`/hooks/channels/${made.id}`), true)
  assert.equal('verify_token' in given, false)
})

test('a sender reported by the provider is refused if it is in use, before the callback address is registered', async (t) => {
  const registered: string[] = []
  const { create, refusal, count } = await pigeons(t, {
    ...connected('+4915112345678'),
    register: async ({ identifier }) => {
      registered.push(identifier)
      return { kind: 'connected' }
    },
  })

  await create()
  const taken = await refusal(create())

  assert.deepEqual([taken.code, taken.status], ['channel_identifier_taken', 409])
  assert.deepEqual(registered, ['+4915112345678'])
  assert.equal(await count(), 1)
})

test('a sender that does not match the credentials or the channel type is refused', async (t) => {
  const one = await pigeons(t, connected('+4915112345678'))
  const other = await pigeons(t, connected('(555) 0199'))
  const silent = await pigeons(t, {})

  const wrong = await one.refusal(one.create({ identifier: '+4915100000000' }))
  const odd = await other.refusal(other.create())
  const untold = await silent.refusal(silent.create())
  const same = await one.create({ identifier: '+4915112345678' })

  assert.deepEqual([wrong.code, wrong.param], ['parameter_invalid', 'identifier'])
  assert.match(wrong.message, /\+4915112345678/)
  assert.equal(odd.code, 'upstream_rejected')
  assert.deepEqual([untold.code, untold.param], ['parameter_missing', 'identifier'])
  assert.equal(same.identifier, '+4915112345678')
  assert.equal(await other.count(), 0)
})

test('a channel whose commit got no answer stays registered at the provider; one that was not created does not', async (t) => {
  const registered = new Set<string>()
  const { create, count, pool, kept } = await pigeons(t, {
    ...connected('+4915112345678'),
    register: async ({ channel_id }) => {
      registered.add(channel_id)
      return { kind: 'connected' }
    },
    disconnect: async ({ channel_id }) => void registered.delete(channel_id),
  })
  const lost = Object.assign(new Error('gone'), { code: 'CONNECTION_CLOSED' })
  /** The connection is lost before the commit, or before its answer. */
  const failing = (at: 'before' | 'after'): typeof pool =>
    new Proxy(pool, {
      get: (target, name) =>
        name !== 'begin'
          ? Reflect.get(target, name)
          : async (work: (tx: Transaction) => Promise<unknown>) => {
              await target.begin(async (tx) => {
                await work(tx)
                if (at === 'before') throw lost
              })
              throw lost
            },
    })

  await assert.rejects(create({}, failing('before')), /gone/)
  const without = [registered.size, await count()]
  await assert.rejects(create({}, failing('after')), /gone/)

  assert.deepEqual(without, [0, 0])
  assert.deepEqual([[...registered], await count()], [[(kept[1] as { id: string }).id], 1])
})

test('the reply of a creation is stored with it, including the generated verify token', async (t) => {
  const { create, kept } = await pigeons(t, connected('+4915112345678'))

  const made = await create()

  assert.deepEqual(kept, [made])
})

test('a secret repeated by a provider is hidden', async (t) => {
  const { create, refusal } = await pigeons(t, {
    connect: async ({ credentials }) => ({
      kind: 'refused',
      message: `The token ${String(credentials['token'])} is old.`,
    }),
  })

  const refused = await refusal(create())

  assert.equal(
    refused.message,
    'The provider refused the credentials: The token [hidden] is old. Correct them and try again; nothing was changed.',
  )
})

test('provider settings are validated at creation and at changes, and affect the capabilities', async (t) => {
  const { create, update, refusal } = await pigeons(t, connected('+4915112345678'))

  const wrong = await refusal(create({ settings: { rings: 'many' } }))
  const channel = await create({ settings: { rings: 2 } })
  const refused = await refusal(update(channel.id, { settings: { rings: 0 } }))
  const changed = await update(channel.id, { settings: { rings: 3, mms: true } })
  const renamed = await update(channel.id, { name: 'Tower' })

  assert.deepEqual([wrong.code, wrong.param, refused.param], ['parameter_invalid', 'settings.rings', 'settings.rings'])
  assert.deepEqual(channel.settings, { rings: 2, max_messages_per_second: 30 })
  assert.deepEqual(
    [changed.settings, changed.capabilities],
    [{ rings: 3, mms: true, max_messages_per_second: 30 }, ['text', 'attachments']],
  )
  assert.deepEqual(
    [renamed.name, renamed.settings, renamed.capabilities],
    ['Tower', changed.settings, changed.capabilities],
  )
})

test('an unknown field of credentials or settings is refused with a suggestion', async (t) => {
  const { create, update, refusal } = await pigeons(t, connected('+4915112345678'))

  const misspelt = await refusal(
    create({ credentials: { tokken: 'x' }, settings: { ring: 1, max_message_per_second: 5 } }),
  )
  const channel = await create()
  const changed = await refusal(update(channel.id, { settings: { colour: 'grey' } }))
  const renewed = await refusal(update(channel.id, { credentials: { token: 'y', '': 1, ['x'.repeat(5000)]: 2 } }))

  assert.deepEqual([misspelt.code, misspelt.param], ['parameter_invalid', 'credentials.tokken'])
  assert.deepEqual(
    misspelt.details?.map(({ param, code }) => [param, code]),
    [
      ['credentials.tokken', 'unknown_field'],
      ['credentials.token', 'missing_field'],
      ['settings.ring', 'unknown_field'],
      ['settings.max_message_per_second', 'unknown_field'],
    ],
  )
  assert.match(misspelt.message, /^`credentials\.tokken` is not known to .*\. Did you mean `token`\? It takes .*token/)
  assert.match(misspelt.details?.[3]?.message ?? '', /Did you mean `max_messages_per_second`\?/)
  assert.deepEqual([changed.param, /Did you mean/.test(changed.message)], ['settings.colour', false])
  assert.deepEqual([renewed.param, renewed.details?.length], ['credentials[""]', 2])
})

test('the registration at the provider is removed if the channel is not created', async (t) => {
  const told: string[] = []
  const seen: string[] = []
  const { create, refusal, count } = await pigeons(t, {
    ...connected('+4915112345678'),
    register: async ({ webhook_url }) => {
      seen.push(webhook_url)
      return { kind: 'connected' }
    },
    listTemplates: async () => {
      throw new Error('They cannot be read.')
    },
    disconnect: async ({ webhook_url, credentials }) =>
      void told.push(`${webhook_url} ${String(credentials['token'])}`),
  })

  const refused = await refusal(create())

  assert.equal(refused.code, 'upstream_unavailable')
  assert.deepEqual([told, await count()], [[`${seen[0]} ring-4711`], 0])
})

test('a registration that failed or timed out is removed at creation, and stays at a reconnect', async (t) => {
  const told: string[] = []
  let answer: ConnectOutcome = { kind: 'unavailable', message: 'No answer.' }
  const { create, reconnect, refusal, count } = await pigeons(t, {
    ...connected('+4915112345678'),
    register: async () => answer,
    disconnect: async ({ identifier, webhook_url }) => void told.push(`${identifier} ${webhook_url.split('/').at(-2)}`),
  })

  const refused = await refusal(create())
  const [afterwards, left] = [[...told], await count()]
  answer = { kind: 'connected' }
  const { id } = await create()
  answer = { kind: 'unavailable', message: 'No answer.' }
  await refusal(reconnect(id))

  assert.equal(refused.code, 'upstream_unavailable')
  assert.deepEqual([afterwards, left], [['+4915112345678 channels'], 0])
  assert.equal(told.length, 1)
})

test('of two concurrent creations with one sender, the later one removes its registration', async (t) => {
  const told: string[] = []
  const both = Promise.withResolvers<void>()
  let registered = 0
  const { create, count } = await pigeons(t, {
    ...connected('+4915112345678'),
    register: async () => {
      if (++registered === 2) both.resolve()
      await both.promise
      return { kind: 'connected' }
    },
    disconnect: async ({ channel_id }) => void told.push(channel_id),
  })

  const made = await Promise.allSettled([create(), create()])
  const stands = made.flatMap((one) => (one.status === 'fulfilled' ? [one.value.id] : []))

  assert.deepEqual([stands.length, told.length, await count()], [1, 1, 1])
  assert.notEqual(told[0], stands[0])
})

test('a channel created while a deleted one with its sender is unregistered stays registered', async (t) => {
  let called: string | null = null
  const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const { create, remove } = await pigeons(t, {
    ...connected('+4915112345678'),
    register: async ({ channel_id }) => {
      called = channel_id
      return { kind: 'connected' }
    },
    disconnect: async () => {
      asked.resolve()
      await released.promise
      called = null
    },
  })

  const removing = remove((await create()).id)
  await asked.promise
  const again = await create()
  released.resolve()
  await removing

  assert.equal(called, again.id)
})

test('a channel is deleted even if its provider cannot be reached', async (t) => {
  const told: string[] = []
  const { create, remove, count } = await pigeons(t, {
    ...connected('+4915112345678'),
    disconnect: async ({ credentials }) => {
      told.push(String(credentials['token']))
      throw new Error('out of reach')
    },
  })

  await remove((await create()).id)

  assert.deepEqual(told, ['ring-4711'])
  assert.equal(await count(), 0)
})
