/** API keys (behaviour: console-records 2). */
import { Type } from 'typebox'
import type { Mode } from '../../../api/caller.ts'
import { Problem } from '../../../api/problem.ts'
import { ApiKey, ApiKeyCreation, ApiKeyWithText } from '../../../api/resources/api-key.ts'
import type { Scope } from '../../../api/scopes.ts'
import { isoTime } from '../../../lib/clock.ts'
import { listOf, listQuery, pageOf, pageReply } from '../../../platform/http/paging.ts'
import { reply } from '../../../platform/http/route.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { AccountService, KeyRow } from '../../accounts/service.ts'
import { mayIn, type Role, scopesOf } from '../roles.ts'
import { consoleRoute, type ConsoleRoute } from '../route.ts'
import { requireRecent, roleIn } from '../sign-in/sessions.ts'

// revoking needs read access only; creating depends on the mode in the body
const facts = { access: 'account', permission: 'revoke_keys', scope: null } as const

const listApiKeysRoute = (accounts: AccountService): ConsoleRoute =>
  consoleRoute({
    ...facts,
    operation: 'api_keys.list',
    method: 'GET',
    path: '/console/api/api_keys',
    summary: 'List the API keys',
    description: 'Of both modes or of one, revoked and expired ones too, newest first, without their texts.',
    query: listQuery({
      mode: Type.Optional(
        Type.Unsafe<Mode>({ type: 'string', enum: ['live', 'test'], description: 'Only those of this mode.' }),
      ),
    }),
    replies: { 200: listOf(ApiKey) },
    errors: [],
    async handler({ caller, query, sql }) {
      const page = pageOf(query)
      const rows = await accounts.pageOfKeys(sql, { account_id: caller.account_id, mode: query.mode ?? null }, page)
      return reply(200, pageReply(rows.map(keyObject), page.limit))
    },
  })

const createApiKeyRoute = (platform: Platform, accounts: AccountService): ConsoleRoute =>
  consoleRoute({
    ...facts,
    operation: 'api_keys.create',
    method: 'POST',
    path: '/console/api/api_keys',
    secret_reply: true,
    summary: 'Create an API key',
    description:
      'Its text is shown only here. A key cannot have more scopes than your role in its mode, which are the default. A live key requires a recent authentication.',
    body: ApiKeyCreation,
    replies: { 201: ApiKeyWithText },
    errors: [],
    refuses: ['reauthentication_required', 'role_not_allowed', 'api_key_limit'],
    authorize({ caller: { account_id, mode }, session, body }) {
      const wanted = body['mode'] === 'live' || body['mode'] === 'test' ? body['mode'] : mode
      requireKeys(roleIn(session, account_id), wanted, [])
    },
    permit({ caller: { account_id }, session, body }) {
      requireKeys(roleIn(session, account_id), body.mode, body.scopes ?? [])
      if (body.mode === 'live') requireRecent(platform, session)
    },
    async handler({ caller: { account_id }, session, body, sql }) {
      const { expires_at, ...wanted } = body
      const created = await accounts.createKey(
        {
          account_id,
          scopes: scopesOf(roleIn(session, account_id), body.mode),
          ...wanted,
          expires_at: expires_at === undefined || expires_at === null ? null : isoTime(Date.parse(expires_at)),
        },
        sql,
      )
      return reply(201, { ...keyObject(created), key: created.key })
    },
  })

const revokeApiKeyRoute = (accounts: AccountService): ConsoleRoute =>
  consoleRoute({
    ...facts,
    operation: 'api_keys.revoke',
    method: 'POST',
    path: '/console/api/api_keys/{id}/revoke',
    summary: 'Revoke an API key',
    description: 'It is refused from now on, for good. A second time changes nothing.',
    replies: { 200: ApiKey },
    errors: ['resource_missing'],
    refuses: ['role_not_allowed'],
    handler: async ({ caller, params, sql }) =>
      reply(200, keyObject(await accounts.revokeKey(params['id']!, sql, caller.account_id))),
  })

export const keyRoutes = (platform: Platform, accounts: AccountService): ConsoleRoute[] => [
  listApiKeysRoute(accounts),
  createApiKeyRoute(platform, accounts),
  revokeApiKeyRoute(accounts),
]

/** Throws `role_not_allowed`. */
function requireKeys(role: Role, mode: 'live' | 'test', scopes: readonly Scope[]): void {
  if (!mayIn(role, mode, 'keys'))
    throw new Problem(
      'role_not_allowed',
      `The role ${role} makes no ${mode} keys. Ask an owner or administrator of the account.`,
    )
  const own = scopesOf(role, mode)
  const beyond = scopes.find((scope) => !own.includes(scope))
  if (beyond !== undefined)
    throw new Problem(
      'role_not_allowed',
      `The role ${role} does not have the scope ${beyond} in ${mode} mode, so it can give it to no key. Leave it out.`,
    )
}

const keyObject = (row: KeyRow): ApiKey => ({
  object: 'api_key',
  id: row.id,
  mode: row.mode,
  name: row.name,
  last_four: row.last_four,
  scopes: row.scopes as Scope[],
  ip_allowlist: row.ip_allowlist,
  expires_at: row.expires_at,
  revoked_at: row.revoked_at,
  created_at: row.created_at,
})
