/** The console's guard: rate limit, origin, session, account and role, in this order (behaviour: console 2). */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { IncomingMessage } from 'node:http'
import type { Caller, Mode } from '../../api/caller.ts'
import type { Id } from '../../api/ids.ts'
import { Problem, type ProblemCode } from '../../api/problem.ts'
import { addressList, asksForCsv, clientAddress } from '../../platform/http/headers.ts'
import type { Entered, Guard } from '../../platform/http/guard.ts'
import type { RateLimiter } from '../../platform/http/rate-limit.ts'
import type { RecorderOf } from '../../platform/http/audit-hook.ts'
import type { Route } from '../../platform/http/route.ts'
import type { Platform } from '../../platform/platform.ts'
import { isOpenToImpersonation } from './platform-admin/impersonation.ts'
import { mayIn, type Permission, permissionFor, type Role, scopesOf } from './roles.ts'
import type { Access, ConsoleFacts, ConsoleRoute, Entrant } from './route.ts'
import { cookieHash, cookieOf, requireRecent, type Session, type Sessions, takesRecent } from './sign-in/sessions.ts'

export interface GuardParts {
  readonly platform: Platform
  readonly sessions: Sessions
  readonly limiter: RateLimiter
  readonly isSuspended: (account_id: string) => Promise<boolean>
  readonly recorderOf: RecorderOf
}

export function consoleGuard(parts: GuardParts, prefix: string, routes: readonly Route[]): Guard {
  const isTrusted = addressList(parts.platform.settings.trusted_proxies)
  return {
    prefix,
    routes,
    recorderOf: parts.recorderOf,
    async enter(request, reply, route) {
      reply.header('cache-control', 'no-store')
      const { settings } = parts.platform
      const cookie = cookieOf(request.raw, settings)
      if (cookie !== undefined) await limit(parts, cookie, reply)
      if (route.method !== 'GET') requireOwnPage(request.raw, settings.base_url)
      const { access, permission, moded } = factsOf(route)
      const session = cookie === undefined ? null : await parts.sessions.find(cookie)
      const entrant: Entrant = { session, address: clientAddress(request.raw, isTrusted) }
      if (access === 'public') return { caller: nobody(request), session: entrant }
      if (session === null) throw new Problem('session_required')
      const permissions = permissionsFor(route, permission, request.raw)
      requireOpenFor(session, route, permissions)
      if (access === 'session') return { caller: nobody(request), session: entrant }
      if (access === 'admin') return { caller: adminOf(session, request), session: entrant }
      const entered = await memberOf(parts, session, request, moded)
      requireRole(route, entered, permissions)
      if (permissions.includes('export') || takesRecent(route.operation)) requireRecent(parts.platform, session)
      return { caller: entered.caller, session: entrant }
    },
  }
}

async function limit({ platform, limiter }: GuardParts, cookie: string, reply: FastifyReply): Promise<void> {
  const max = platform.settings.rate_limit_console
  const verdict = await limiter.take(`session ${cookieHash(cookie)}`, 0, max)
  reply.header('ratelimit-limit', max)
  reply.header('ratelimit-remaining', verdict.remaining)
  reply.header('ratelimit-reset', verdict.reset_s)
  if (verdict.allowed) return
  reply.header('retry-after', verdict.reset_s)
  throw new Problem(
    'rate_limit_exceeded',
    `The session sends more than ${max} requests a second. Wait the seconds of Retry-After, then repeat.`,
  )
}

/** A file of persons is an export, whichever operation writes it (behaviour: console 3.5). */
function permissionsFor(
  route: Route,
  permission: Permission | undefined,
  { headers }: IncomingMessage,
): readonly Permission[] {
  const own = permission === undefined ? [] : [permission]
  return route.csv !== undefined && asksForCsv(headers.accept) ? [...own, 'export'] : own
}

/** An impersonator may read, and run a few operations that help the account. */
function requireOpenFor({ impersonation }: Session, route: Route, permissions: readonly Permission[]): void {
  if (impersonation !== null && !isOpenToImpersonation(route, permissions.includes('export')))
    throw new Problem('impersonation_restricted')
}

/** CSRF protection: other sites can send neither the header nor our origin. */
function requireOwnPage({ headers }: IncomingMessage, base_url: string): void {
  const origin = headers.origin
  const site = headers['sec-fetch-site']
  if (headers['service-console'] !== '1') throw new Problem('csrf_header_missing')
  if ((origin !== undefined && origin !== new URL(base_url).origin) || (site !== undefined && site !== 'same-origin'))
    throw new Problem(
      'csrf_header_missing',
      `The request comes from another origin than ${new URL(base_url).origin}, which is where the console is. Open it there.`,
    )
}

export function codesAtGuard(route: ConsoleRoute): ProblemCode[] {
  const { access, permission, moded } = factsOf(route)
  const codes: ProblemCode[] = [
    'rate_limit_exceeded',
    ...(route.method === 'GET' ? [] : ['csrf_header_missing' as const]),
  ]
  if (access === 'public') return codes
  codes.push(
    'session_required',
    ...(isOpenToImpersonation(route, permission === 'export') ? [] : ['impersonation_restricted' as const]),
  )
  if (access === 'session') return codes
  if (access === 'admin') return [...codes, 'admin_required']
  codes.push('account_required', 'account_suspended', 'parameter_invalid')
  if (moded) codes.push('parameter_missing')
  if (route.scope !== null || permission !== undefined) codes.push('role_not_allowed')
  return takesRecent(route.operation) ? [...codes, 'reauthentication_required'] : codes
}

function factsOf(route: Route & Partial<ConsoleFacts>): {
  access: Access
  permission: ConsoleFacts['permission']
  moded: boolean
} {
  if (route.access === undefined)
    return { access: 'account', permission: permissionFor(route.operation, route.method), moded: true }
  return { access: route.access, permission: route.permission, moded: route.moded === true }
}

interface Member extends Entered {
  readonly role: Role
}

async function memberOf(
  { isSuspended }: GuardParts,
  session: Session,
  request: FastifyRequest,
  moded: boolean,
): Promise<Member> {
  const { 'service-account': account_id, 'service-mode': mode } = request.raw.headers
  const account = session.accounts.find(({ id }) => id === account_id)
  if (account === undefined) throw new Problem('account_required')
  if (mode === undefined && moded)
    throw new Problem('parameter_missing', 'The header Service-Mode is missing. Send `live` or `test`.', {
      param: 'Service-Mode',
    })
  if (mode !== undefined && mode !== 'live' && mode !== 'test')
    throw new Problem('parameter_invalid', 'The header Service-Mode is `live` or `test`.', { param: 'Service-Mode' })
  if (await isSuspended(account.id)) throw new Problem('account_suspended')
  const requested: Mode = mode ?? 'live'
  const caller: Caller = {
    account_id: account.id,
    mode: requested,
    account_name: account.name,
    key_id: null,
    key_name: '',
    user_id: session.user_id,
    scopes: scopesOf(account.role, requested),
    request_id: request.id as Id<'req'>,
    trace: request.trace,
  }
  return { caller, session, role: account.role }
}

function requireRole(route: Route, { caller, role }: Member, permissions: readonly Permission[]): void {
  const allowed =
    (route.scope === null || caller.scopes.includes(route.scope)) &&
    permissions.every((permission) => mayIn(role, caller.mode, permission))
  if (!allowed)
    throw new Problem(
      'role_not_allowed',
      `The role ${role} does not allow this in ${caller.mode} mode. Ask an owner or administrator of the account.`,
    )
  if (route.mode !== undefined && route.mode !== caller.mode)
    throw new Problem(route.mode === 'live' ? 'live_mode_required' : 'test_mode_required')
}

function adminOf(session: Session, request: FastifyRequest): Caller {
  if (!session.admin) throw new Problem('admin_required')
  return nobody(request)
}

const nobody = (request: FastifyRequest): Caller => ({
  account_id: 'acc_none',
  mode: 'live',
  account_name: '',
  key_id: null,
  key_name: '',
  user_id: null,
  scopes: [],
  request_id: request.id as Id<'req'>,
})
