/** Every operation behind the console's door, by every role in either mode: what the table of roles allows, and nothing else (behaviour: console 3). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signedInOwner } from '../kit/console-api.ts'
import { startWorld } from '../kit/world.ts'

const roles = ['owner', 'admin', 'developer', 'marketer', 'agent', 'finance', 'viewer']

/** Written down once more: W write, T write in test mode and read in live, R read, - nothing; in the order of `roles`. */
const areas: Record<string, string> = {
  messages: 'WWTTW-R',
  contacts: 'WWTWW-R',
  transfers: 'WWTW---',
  channels: 'WWTRR-R',
  campaigns: 'WWTWR-R',
  integrations: 'WWWWR-R',
  webhooks: 'WWW-R--',
  developers: 'WWT----',
  billing: 'WWRR-WR',
  team: 'WW-----',
}

const areaOfResource: Record<string, string> = {
  messages: 'messages',
  test: 'messages',
  contacts: 'contacts',
  contact_lists: 'contacts',
  contact_tags: 'contacts',
  contact_attributes: 'contacts',
  contact_imports: 'contacts',
  segments: 'contacts',
  channels: 'channels',
  campaigns: 'campaigns',
  integration_sources: 'integrations',
  automations: 'integrations',
  automation_events: 'integrations',
  automation_runs: 'integrations',
  webhook_endpoints: 'webhooks',
  events: 'webhooks',
  balance: 'billing',
  balance_transactions: 'billing',
  prices: 'billing',
  usage: 'billing',
}

/** Where the resource or the method does not tell. Who makes and revokes keys of which mode is asked after the door. */
const exceptions: Record<string, readonly [area: string, kind: 'read' | 'write']> = {
  'contact_imports.create': ['transfers', 'write'],
  'contacts.export': ['transfers', 'write'],
  'contacts.export_data': ['transfers', 'write'],
  'campaigns.rehearse': ['campaigns', 'read'],
  'automations.simulate': ['integrations', 'read'],
  'messages.list_deliveries': ['webhooks', 'read'],
  'deliveries.retry': ['webhooks', 'write'],
  'requests.list': ['developers', 'read'],
  'requests.retrieve': ['developers', 'read'],
  'api_keys.list': ['developers', 'read'],
  'api_keys.create': ['developers', 'read'],
  'api_keys.revoke': ['developers', 'read'],
  'top_ups.list': ['billing', 'read'],
  'top_ups.create': ['billing', 'write'],
  'account.retrieve': ['team', 'write'],
  'account.update': ['team', 'write'],
  'audit_entries.list': ['team', 'read'],
}

interface Row {
  readonly operation: string
  readonly method: string
  readonly path: string
}

/** undefined: an own operation that the table does not name. */
function ruleOf({ operation, method, path }: Row): readonly [string, 'read' | 'write'] | undefined {
  const known = exceptions[operation]
  if (known !== undefined || !path.startsWith('/v1/')) return known
  const area = areaOfResource[path.split('/')[2]!]
  assert.ok(area, `${operation}: to which area does it belong?`)
  return [area, method === 'GET' ? 'read' : 'write']
}

function isAllowed([area, kind]: readonly [string, 'read' | 'write'], role: string, mode: string): boolean {
  const level = areas[area]![roles.indexOf(role)]
  return level === 'W' || (level === 'T' && (kind === 'read' || mode === 'test')) || (level === 'R' && kind === 'read')
}

test('every role may do what the table says, in either mode, and of no account but its own', async (t) => {
  const world = await startWorld(t, { settings: { rate_limit_console: 1_000_000 } })
  await world.account()
  const client = await signedInOwner(world)
  const foreign = await world.account()
  const reachable = world.app.routes.filter(({ take, source_key, operation }) => take === undefined && source_key !== true && operation !== 'me.retrieve')
  const rows = [...reachable, ...world.app.consoleRoutes].flatMap((row) => {
    const rule = ruleOf(row)
    const path = row.path.replace('/console/api', '').replaceAll(/\{\w+\}/g, 'none')
    return rule === undefined ? [] : [{ ...row, rule, path }]
  })
  assert.ok(rows.length > 90)

  const wrong: string[] = []
  for (const role of roles) {
    await world.pool`update memberships set role = ${role}`
    for (const mode of ['live', 'test'] as const) {
      client.mode = mode
      for (const { operation, method, path, rule } of rows) {
        const { body } = await client.send(method, path, method === 'GET' || method === 'DELETE' ? undefined : {})
        const allowed = body?.error?.code !== 'role_not_allowed'
        if (allowed !== isAllowed(rule, role, mode)) wrong.push(`${operation} by ${role} in ${mode} mode: ${allowed ? 'allowed' : 'refused'}`)
      }
    }
  }
  assert.deepEqual(wrong, [])

  for (const { operation, method, path } of rows) {
    const answer = await client.send(method, path, method === 'GET' || method === 'DELETE' ? undefined : {}, { 'service-account': foreign.id })
    assert.deepEqual([answer.status, answer.body?.error?.code], [403, 'account_required'], operation)
  }
})
