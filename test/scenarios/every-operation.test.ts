/** Rules that every operation follows. */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { TSchema } from 'typebox'
import { consoleErrorCatalogue } from '../../src/api/console-errors.ts'
import { errorCatalogue } from '../../src/api/errors.ts'
import { validator } from '../../src/api/validation.ts'
import { openapiText } from '../../src/openapi.ts'
import { responses, serialiser } from '../../src/platform/http/responses.ts'
import { requestExample } from '../../src/docs/openapi.ts'
import type { Route } from '../../src/platform/http/route.ts'
import { sample } from '../../src/docs/samples.ts'
import { bodyOf, makers, nameOf, pathWith } from '../support/makers.ts'
import { unprovoked } from '../support/provoked.ts'
import { startWorld, type TestAccount } from '../support/world.ts'

const call = (account: TestAccount, route: Route, ids: readonly string[]) => {
  const path = pathWith(route, ids)
  if (route.method === 'GET') return account.api.get(path)
  if (route.method === 'DELETE') return account.api.delete(path)
  const body = bodyOf(route)
  return route.method === 'POST' ? account.api.post(path, body) : account.api.patch(path, body)
}

test('every operation refuses a missing key; a signed operation has none and looks up its target', async (t) => {
  const world = await startWorld(t)

  for (const route of world.app.routes) {
    const answer = await world.api().send(route.method, pathWith(route, []))
    assert.deepEqual(
      [answer.status, answer.body.error.code],
      route.signedHandler === undefined ? [401, 'api_key_missing'] : [404, 'resource_missing'],
      nameOf(route),
    )
  }
})

test('every operation with a scope refuses a key with all other scopes', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const { scopes } = await import('../../src/api/scopes.ts')

  for (const scope of scopes) {
    for (const mode of ['live', 'test'] as const) {
      const routes = world.app.routes.filter((route) => route.scope === scope && (route.mode ?? 'test') === mode)
      if (routes.length === 0) continue
      const { key } = await world.services.accounts.createKey({
        account_id: account.id,
        mode,
        scopes: scopes.filter((other) => other !== scope),
      })
      for (const route of routes) {
        const answer = await world.api(key).send(route.method, pathWith(route, []))
        assert.deepEqual([answer.status, answer.body.error.code], [403, 'scope_missing'], nameOf(route))
      }
    }
  }
})

test('every operation with an id answers ids of another account or mode like unknown ids', async (t) => {
  const world = await startWorld(t)
  const owners = { live: await world.account({ mode: 'live' }), test: await world.account() }
  const strangers = { live: await world.account({ mode: 'live' }), test: await world.account() }
  const withId = world.app.routes.filter(({ path, signedHandler }) => path.includes('{') && signedHandler === undefined)
  const made = new Map<string, { readonly ids: string[]; readonly mode: 'live' | 'test' }>()
  for (const [prefix, { mode, make }] of Object.entries(makers))
    made.set(prefix, { ids: await make(world, owners[mode]), mode })

  for (const route of withId) {
    const prefix = Object.keys(makers).find((known) => route.path.startsWith(known))
    assert.ok(prefix !== undefined, `${nameOf(route)}: say in this test how an id of its kind comes about`)
    const { ids, mode } = made.get(prefix)!
    assert.ok(
      ids.every((id) => typeof id === 'string'),
      `${prefix}: ${ids.join()}`,
    )
    const other = await world.services.accounts.createKey({
      account_id: owners[mode].id,
      mode: mode === 'live' ? 'test' : 'live',
    })
    const callers = [strangers[mode], { ...owners[mode], api: world.api(other.key) }]
    for (const caller of callers) {
      const answer = await call(caller, route, ids)
      assert.deepEqual([answer.status, answer.body.error?.code], [404, 'resource_missing'], nameOf(route))
    }
    await world.services.accounts.revokeKey(other.id)
  }
})

test('every operation answers 404 to ids of a wrong shape or kind', async (t) => {
  const world = await startWorld(t)
  const caller = { live: await world.account({ mode: 'live' }), test: await world.account() }
  const ids = [
    'x',
    'acc_01m7z10y8texgrjk0p9bvk2cq6',
    'msg_',
    'msg_01M7Z10Y8TEXGRJK0P9BVK2CQ6',
    '%F0%9F%93%AF',
    '%00',
    "'%20or%201=1--",
    'null',
    '__proto__',
  ]

  for (const route of world.app.routes.filter(({ path }) => path.includes('{'))) {
    for (const id of ids) {
      const answer = await call(caller[route.mode ?? 'test'], route, [id, id])
      assert.deepEqual([answer.status, answer.body.error?.code], [404, 'resource_missing'], `${nameOf(route)} ${id}`)
    }
  }
})

test('every operation declares the schemas of its replies, including a success', async (t) => {
  const world = await startWorld(t)

  for (const route of world.app.routes) {
    const statuses = Object.keys(route.replies).map(Number)
    assert.ok(
      statuses.some((status) => status >= 200 && status < 300),
      nameOf(route),
    )
    assert.ok(
      statuses.every((status) => status < 400),
      `${nameOf(route)}: errors have the envelope and are declared by their codes`,
    )
  }
})

test('a full run reports error codes that no test provoked', () => {
  const all = Object.keys({ ...errorCatalogue, ...consoleErrorCatalogue })

  assert.deepEqual(unprovoked(new Set(all)), [])
  for (const [missed, status] of [
    ['parameter_invalid', 400],
    ['email_taken', 409],
  ] as const)
    assert.deepEqual(unprovoked(new Set(all.filter((code) => code !== missed))), [
      `${missed} (${status}) was provoked by no test over HTTP`,
    ])
})

test('the OpenAPI document has every operation with scopes, statuses and examples, and no dangling reference', () => {
  const document = JSON.parse(openapiText()) as {
    paths: Record<string, Record<string, Record<string, unknown>>>
    components: { schemas: object }
  }
  const text = JSON.stringify(document)
  const ids = new Set<unknown>()

  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const name = `${method} ${path}`
      const statuses = Object.keys(operation['responses'] as object)
      assert.ok(Array.isArray(operation['x-scopes']), name)
      for (const status of ['400', '401', '403', '429', '500'])
        assert.ok(statuses.includes(status), `${name} ${status}`)
      assert.match(String(operation['operationId']), /^[a-z]+(_[a-z]+)*\.[a-z]+(_[a-z]+)*$/, name)
      assert.equal(
        String(operation['operationId']).split('.')[0],
        path.split('/')[2],
        `${name}: its operationId begins with the first segment of its path`,
      )
      assert.ok(!ids.has(operation['operationId']), `${name}: its operationId is taken`)
      ids.add(operation['operationId'])
    }
  }
  for (const [, ref] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    const found = ref!
      .split('/')
      .reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined)?.[step], document)
    assert.notEqual(found, undefined, ref)
  }
})

test('every example of the reference matches its schema', async (t) => {
  const world = await startWorld(t)
  const failures = world.app.routes.flatMap((route) => [
    ...(route.body === undefined ? [] : validator(route.body)(requestExample(route), `${nameOf(route)} request`)),
    ...Object.entries(route.replies).flatMap(([status, schema]) =>
      typeof schema === 'string' ? [] : validator(schema)(sample(schema), `${nameOf(route)} ${status}`),
    ),
  ])

  assert.deepEqual(failures, [])
})

test('every declared reply can be serialised', async (t) => {
  const world = await startWorld(t)

  for (const route of [...world.app.routes, ...world.app.consoleRoutes])
    for (const [status, schema] of Object.entries(responses(route)))
      assert.doesNotThrow(
        () => serialiser({ schema: schema as object })(sample(schema as TSchema)),
        `${nameOf(route)}, ${status}`,
      )
})
