/** Search by ID, or by indexed numbers, addresses and references (behaviour: console 7.2). */
import { Type } from 'typebox'
import type { Caller } from '../../../api/caller.ts'
import { idPrefixes, isId } from '../../../api/ids.ts'
import { Problem } from '../../../api/problem.ts'
import { SearchResult } from '../../../api/resources/overview.ts'
import type { Scope } from '../../../api/scopes.ts'
import { normalisePhone } from '../../../lib/phone.ts'
import type { Db } from '../../../platform/database/sql.ts'
import { listOf, listQuery, onePage } from '../../../platform/http/paging.ts'
import { reply } from '../../../platform/http/route.ts'
import { getReceipt, getRun } from '../../automations/service.ts'
import { findRequest } from '../request-log/repository.ts'
import { mayIn, type Permission } from '../roles.ts'
import { consoleRoute, type ConsoleRoute, type ConsoleServices } from '../route.ts'
import type { Session } from '../sign-in/sessions.ts'
import { listMembers } from '../team/repository.ts'

const foundMax = 10

export interface Searcher {
  readonly caller: Caller
  readonly session: Session
}

interface Found {
  readonly object: string
  readonly id: string
  readonly title: string
}

interface Kind {
  readonly needs: Scope | Permission
  readonly get: (services: ConsoleServices, sql: Db, caller: Caller, id: string) => Promise<Found | null>
}

/** `get` throws `resource_missing` or resolves to null for unknown IDs. */
const kinds: Readonly<Record<string, Kind>> = {
  msg: {
    needs: 'messages:read',
    get: async ({ messages }, sql, caller, id) => message(await messages.get(sql, caller, id)),
  },
  ct: {
    needs: 'contacts:read',
    get: async ({ contacts }, sql, caller, id) => contact(await contacts.get(sql, caller, id)),
  },
  lst: {
    needs: 'contacts:read',
    get: async ({ contacts }, sql, caller, id) => named(await contacts.lists.get(sql, caller, id)),
  },
  seg: {
    needs: 'contacts:read',
    get: async ({ contacts }, sql, caller, id) => named(await contacts.segments.get(sql, caller, id)),
  },
  imp: {
    needs: 'read_imports',
    async get({ imports }, sql, caller, id) {
      const found = await imports.get(sql, caller, id)
      return { ...found, title: found.file_name ?? id }
    },
  },
  ch: {
    needs: 'channels:read',
    get: async ({ channels }, sql, caller, id) => named(await channels.read(sql, caller, id)),
  },
  cmp: {
    needs: 'campaigns:read',
    get: async ({ campaigns }, sql, caller, id) => named(await campaigns.get(sql, caller, id)),
  },
  src: {
    needs: 'integrations:read',
    get: async ({ automations }, sql, caller, id) => named(await automations.sources.get(sql, caller, id)),
  },
  aut: {
    needs: 'integrations:read',
    get: async ({ automations }, sql, caller, id) => named(await automations.automations.get(sql, caller, id)),
  },
  run: {
    needs: 'integrations:read',
    get: async (_, sql, caller, id) => ({ ...(await getRun(sql, caller, id)), title: id }),
  },
  aev: { needs: 'automation_events:read', get: async (_, sql, caller, id) => typed(await getReceipt(sql, caller, id)) },
  evt: { needs: 'events:read', get: async ({ feed }, sql, caller, id) => typed(await feed.get(sql, caller, id)) },
  we: {
    needs: 'webhooks:read',
    async get({ webhooks }, sql, caller, id) {
      const found = await webhooks.endpoints.get(sql, caller, id)
      return { ...found, title: found.url }
    },
  },
  // shown on the page of its endpoint
  whd: {
    needs: 'webhooks:read',
    async get({ webhooks }, sql, caller, id) {
      const found = await webhooks.deliveries.find(sql, caller, id)
      if (found === null) return null
      const { object, url, ...endpoint } = await webhooks.endpoints.get(sql, caller, found.endpoint_id)
      return { object, id: endpoint.id, title: url }
    },
  },
  txn: {
    needs: 'billing:read',
    async get({ billing }, sql, caller, id) {
      const found = await billing.transaction(sql, caller, id)
      return found === null ? null : typed(found)
    },
  },
  grant: {
    needs: 'billing:read',
    async get({ billing }, sql, caller, id) {
      const found = (await billing.balance(sql, caller)).packages.find((one) => one.id === id)
      return found === undefined ? null : { object: 'package', id, title: found.name ?? id }
    },
  },
  usr: {
    needs: 'team',
    async get(_, sql, { account_id }, id) {
      const found = (await listMembers(sql, account_id)).find((member) => member.id === id)
      return found === undefined ? null : { object: 'member', id, title: found.name }
    },
  },
  key: {
    needs: 'revoke_keys',
    async get({ accounts }, _, { account_id, mode }, id) {
      const found = (await accounts.listKeys(account_id)).find((key) => key.id === id && key.mode === mode)
      return found === undefined ? null : { object: 'api_key', id, title: found.name }
    },
  },
  req: {
    needs: 'requests',
    async get(_, sql, caller, id) {
      const found = await findRequest(sql, caller, id)
      return found === null ? null : { object: 'request', id, title: `${found.method} ${found.path}` }
    },
  },
}

const prefixes: ReadonlySet<string> = new Set(Object.values(idPrefixes))

async function searchFor(
  services: ConsoleServices,
  sql: Db,
  searcher: Searcher,
  input: string,
): Promise<SearchResult[]> {
  const text = input.trim()
  if (text === '') return []
  const prefix = text.split('_', 1)[0]!
  const isAnId = prefixes.has(prefix) && isId(prefix as never, text)
  const found = isAnId
    ? await byId(services, sql, searcher, prefix, text)
    : [...(await contactsBy(services, sql, searcher, text)), ...(await messagesBy(services, sql, searcher, text))]
  return found.map(({ object, id, title }) => ({ object: 'search_result', type: object, id, title }))
}

async function byId(
  services: ConsoleServices,
  sql: Db,
  searcher: Searcher,
  prefix: string,
  id: string,
): Promise<Found[]> {
  const kind = kinds[prefix]
  if (kind === undefined || !may(searcher, kind.needs)) return []
  try {
    const found = await kind.get(services, sql, searcher.caller, id)
    return found === null ? [] : [found]
  } catch (error) {
    if (error instanceof Problem && error.code === 'resource_missing') return []
    throw error
  }
}

const page = { limit: foundMax, starting_after: undefined }

async function contactsBy({ contacts }: ConsoleServices, sql: Db, searcher: Searcher, text: string): Promise<Found[]> {
  if (!may(searcher, 'contacts:read')) return []
  const phone = phoneOf(text)
  const query = phone !== null ? { phone } : text.includes('@') ? { email: text } : null
  return query === null ? [] : (await contacts.list(sql, searcher.caller, query, page)).slice(0, foundMax).map(contact)
}

async function messagesBy({ messages }: ConsoleServices, sql: Db, searcher: Searcher, text: string): Promise<Found[]> {
  if (!may(searcher, 'messages:read')) return []
  const referred = await messages.list(sql, searcher.caller, { reference: text }, page)
  const sent = await messages.list(sql, searcher.caller, { to: phoneOf(text) ?? text }, page)
  const all = new Map([...referred.slice(0, foundMax), ...sent.slice(0, foundMax)].map((row) => [row.id, message(row)]))
  return [...all.values()]
}

const phoneOf = (text: string): string | null =>
  /^[+\d(]/.test(text) ? (normalisePhone(text) ?? normalisePhone(`+${text}`)) : null

function may({ caller, session }: Searcher, needs: Scope | Permission): boolean {
  const role = session.accounts.find(({ id }) => id === caller.account_id)?.role
  return caller.scopes.includes(needs as Scope) || (role !== undefined && mayIn(role, caller.mode, needs as Permission))
}

const named = ({ object, id, name }: { object: string; id: string; name: string }): Found => ({
  object,
  id,
  title: name,
})
const typed = ({ object, id, type }: { object: string; id: string; type: string }): Found => ({
  object,
  id,
  title: type,
})

const message = ({ id, direction, to, from }: { id: string; direction: string; to: string; from: string }): Found => ({
  object: 'message',
  id,
  title: direction === 'inbound' ? from : to,
})

const contact = ({
  id,
  full_name,
  phone,
  email,
}: {
  id: string
  full_name: string | null
  phone: string | null
  email: string | null
}): Found => ({
  object: 'contact',
  id,
  title: full_name ?? phone ?? email ?? id,
})

const SearchQuery = listQuery({
  q: Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'An id of any kind, a phone number, an e-mail address, a reference or a request id.',
    examples: ['+15005550006'],
  }),
})

export const searchRoutes = (services: ConsoleServices): ConsoleRoute[] => [
  consoleRoute({
    operation: 'search.list',
    method: 'GET',
    path: '/console/api/search',
    access: 'account',
    moded: true,
    scope: null,
    summary: 'Search everything',
    description:
      'Finds what the id, phone number, e-mail address, reference or request id names, the contact first; only what the role may read.',
    query: SearchQuery,
    example_query: 'q=%2B15005550006',
    replies: { 200: listOf(SearchResult) },
    errors: ['parameter_missing'],
    handler: async ({ caller, query, sql, session }) => {
      const { q, ...page } = query
      return reply(200, onePage(await searchFor(services, sql, { caller, session }, q), page))
    },
  }),
]
