/** Every operation of the console by every role and mode (behaviour: console 3). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { consoleClient, signedInOwner } from '../support/console-api.ts'
import type { Route } from '../../src/platform/http/route.ts'
import type { Access } from '../../src/modules/console/route.ts'
import { startWorld } from '../support/world.ts'

const roles = ['owner', 'admin', 'developer', 'marketer', 'agent', 'finance', 'viewer']

/** W write, T write in test and read in live mode, R read, - nothing; in the order of `roles`. */
const areas: Record<string, string> = {
  messages: 'WWTTW-R',
  contacts: 'WWTWW-R',
  transfers: 'WWTW---',
  media: 'WWTWW--',
  channels: 'WWTRR-R',
  campaigns: 'WWTWR-R',
  integrations: 'WWWWR-R',
  webhooks: 'WWW-R--',
  developers: 'WWT----',
  billing: 'WWRR-WR',
  team: 'WW-----',
  everyone: 'WWWWWWW',
}

/** By first path segment; `everyone`: every member. */
const areaOfResource: Record<string, string> = {
  messages: 'messages',
  test: 'messages',
  preview: 'campaigns',
  conversations: 'messages',
  media: 'media',
  contacts: 'contacts',
  contact_lists: 'contacts',
  contact_tags: 'contacts',
  contact_attributes: 'contacts',
  contact_imports: 'transfers',
  segments: 'contacts',
  segment_previews: 'contacts',
  imports: 'transfers',
  channels: 'channels',
  campaigns: 'campaigns',
  integration_sources: 'integrations',
  automations: 'integrations',
  automation_events: 'integrations',
  automation_runs: 'integrations',
  webhook_endpoints: 'webhooks',
  events: 'webhooks',
  deliveries: 'webhooks',
  api_keys: 'developers',
  requests: 'developers',
  balance: 'billing',
  balance_transactions: 'billing',
  prices: 'billing',
  usage: 'billing',
  top_ups: 'billing',
  members: 'team',
  invitations: 'team',
  account: 'team',
  audit_entries: 'team',
  overview: 'everyone',
  search: 'everyone',
}

const exceptions: Record<string, readonly [area: string, kind: 'read' | 'write']> = {
  'contacts.export': ['transfers', 'write'],
  'contacts.export_data': ['transfers', 'write'],
  'campaigns.rehearse': ['campaigns', 'read'],
  'automations.simulate': ['integrations', 'read'],
  'messages.list_deliveries': ['webhooks', 'read'],
  'api_keys.revoke': ['developers', 'read'],
  'preview.message': ['campaigns', 'read'],
  'segment_previews.create': ['contacts', 'read'],
}

function ruleOf({ operation, method, path }: Route): readonly [string, 'read' | 'write'] {
  const area = areaOfResource[path.replace('/console/api/', '/v1/').split('/')[2]!]
  assert.ok(area, `${operation}: to which area does it belong?`)
  return exceptions[operation] ?? [area, method === 'GET' ? 'read' : 'write']
}

function isAllowed([area, kind]: readonly [string, 'read' | 'write'], role: string, mode: string): boolean {
  const level = areas[area]![roles.indexOf(role)]
  return level === 'W' || (level === 'T' && (kind === 'read' || mode === 'test')) || (level === 'R' && kind === 'read')
}

const accessOf = (route: Route & { readonly access?: Access }): Access | undefined => route.access
const callable = ({ path }: Route): string => path.replace('/console/api', '').replaceAll(/\{\w+\}/g, 'none')

test('every role may do exactly what the table says, in either mode, in its own account only', async (t) => {
  const world = await startWorld(t, { settings: { rate_limit_console: 1_000_000 } })
  await world.account()
  const client = await signedInOwner(world)
  const foreign = await world.account()
  const reachable = world.app.routes.filter(
    ({ signedHandler, source_key, operation }) =>
      signedHandler === undefined && source_key !== true && operation !== 'me.retrieve',
  )
  const own = world.app.consoleRoutes.filter((route) => accessOf(route) === 'account')
  const rows = [...reachable, ...own].map((row) => ({ ...row, rule: ruleOf(row), path: callable(row) }))
  assert.ok(rows.length > 110, `${rows.length} operations`)

  const wrong: string[] = []
  for (const role of roles) {
    await world.pool`update memberships set role = ${role}`
    for (const mode of ['live', 'test'] as const) {
      client.mode = mode
      for (const { operation, method, path, rule } of rows) {
        const { body } = await client.send(method, path, method === 'GET' || method === 'DELETE' ? undefined : {})
        const allowed = body?.error?.code !== 'role_not_allowed'
        if (allowed !== isAllowed(rule, role, mode))
          wrong.push(`${operation} by ${role} in ${mode} mode: ${allowed ? 'allowed' : 'refused'}`)
      }
    }
  }
  assert.deepEqual(wrong, [])

  for (const { operation, method, path } of rows) {
    const answer = await client.send(method, path, method === 'GET' || method === 'DELETE' ? undefined : {}, {
      'service-account': foreign.id,
    })
    assert.deepEqual([answer.status, answer.body?.error?.code], [403, 'account_required'], operation)
  }
})

test('operations need a session, and administration needs a platform administrator', async (t) => {
  const world = await startWorld(t, { settings: { rate_limit_console: 1_000_000 } })
  await world.account()
  const client = await signedInOwner(world)
  await world.pool`update users set admin = false`
  const nobody = consoleClient(world)
  const rows = world.app.consoleRoutes.filter((route) => accessOf(route) !== 'public')
  assert.ok(rows.length > 40, `${rows.length} operations`)

  for (const route of rows) {
    const send = async (from: typeof client) =>
      await from.send(
        route.method,
        callable(route),
        route.method === 'GET' || route.method === 'DELETE' ? undefined : {},
      )
    const unknown = await send(nobody)
    assert.deepEqual([unknown.status, unknown.body?.error?.code], [401, 'session_required'], route.operation)
    if (accessOf(route) !== 'admin') continue
    const refused = await send(client)
    assert.deepEqual([refused.status, refused.body?.error?.code], [403, 'admin_required'], route.operation)
  }
})

test('only roles that may export contacts get recipients and rehearsals as CSV', async (t) => {
  const world = await startWorld(t, { settings: { rate_limit_console: 1_000_000 } })
  await world.account()
  const client = await signedInOwner(world)
  const routes = world.app.routes.filter(({ csv }) => csv !== undefined)
  const wrong: string[] = []
  for (const role of roles) {
    await world.pool`update memberships set role = ${role}`
    for (const mode of ['live', 'test'] as const) {
      client.mode = mode
      for (const route of routes) {
        const { body } = await client.send(route.method, callable(route), undefined, { accept: 'text/csv' })
        const allowed = body?.error?.code !== 'role_not_allowed'
        if (allowed !== (isAllowed(ruleOf(route), role, mode) && isAllowed(['transfers', 'write'], role, mode)))
          wrong.push(`${route.operation} as CSV by ${role} in ${mode} mode: ${allowed ? 'allowed' : 'refused'}`)
      }
    }
  }

  assert.equal(routes.length, 2)
  assert.deepEqual(wrong, [])
})
