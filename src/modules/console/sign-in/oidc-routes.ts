/** The OIDC redirects. The page at their end shows errors (behaviour: console 3.14). */
import { Type } from 'typebox'
import { Problem } from '../../../api/problem.ts'
import { Identity, PendingIdentity as PendingIdentityObject } from '../../../api/resources/identity.ts'
import { deletedOf } from '../../../api/resources/shared-fields.ts'
import { listOf, onePage } from '../../../platform/http/paging.ts'
import { reply, type Reply } from '../../../platform/http/route.ts'
import type { Platform } from '../../../platform/platform.ts'
import { consoleRoute, type ConsoleRoute } from '../route.ts'
import {
  type BegunFlow,
  cancel,
  flowOf,
  link,
  noOAuthCookie,
  oauthCookie,
  offer,
  oidcProvider,
  pendingOf,
  type Provider,
  unlink,
  userOf,
} from './oidc.ts'
import { type IdentityRow, listIdentities, type PendingIdentity } from './repository.ts'
import { type From, type Session, type Sessions, setCookie } from './sessions.ts'

export interface OAuthRoutesParts {
  readonly platform: Platform
  readonly sessions: Sessions
  readonly takeTurn: (address: string) => void
}

const publicRedirect = { access: 'public', scope: null, replies: { 302: '' }, errors: ['resource_missing'] } as const
const callbackPath = '/console/api/oauth/callback'
const profile = '/console/profile'

function oauthRoutes({ platform, sessions, takeTurn }: OAuthRoutesParts): ConsoleRoute[] {
  const { oidc } = platform.settings
  const known = oidc === undefined ? null : oidcProvider(oidc, platform.clock)
  const provider = (): Provider => {
    if (known === null)
      throw new Problem(
        'resource_missing',
        'No OIDC provider is configured here. Sign in with an e-mail address and a password.',
      )
    return known
  }
  return [
    consoleRoute({
      ...publicRedirect,
      operation: 'oauth.start',
      method: 'GET',
      path: '/console/api/oauth/start',
      summary: 'Go to the OIDC provider',
      description:
        'For a browser: it comes back to `oauth/callback`, and from there to `next`. With `link` it links the identity with whoever is signed in.',
      query: Type.Object({
        link: Type.Optional(Type.String({ enum: ['1'], description: 'To link an identity.' })),
        next: Type.Optional(Type.String({ maxLength: 2000, description: 'A path of the console to go to then.' })),
      }),
      handler: async ({ query, session }) => await start(platform, provider(), query, session),
    }),
    consoleRoute({
      ...publicRedirect,
      operation: 'oauth.callback',
      method: 'GET',
      path: callbackPath,
      summary: 'Come back from the OIDC provider',
      description: 'Signs in whose identity is linked, or has it wait at `oauth/pending`.',
      query: Type.Object({}, { additionalProperties: true }),
      refuses: ['invalid_credentials'],
      async handler({ session, raw, address }) {
        const present = provider()
        takeTurn(address)
        const flow = flowOf(platform, raw)
        if (flow === null) return failed(platform, null, 'oauth_pending_expired')
        const url = new URL(raw.url!, platform.settings.base_url)
        const { base_url } = platform.settings
        const identity = await identityAt(platform, present, new URL(`${base_url}${callbackPath}${url.search}`), flow)
        if (typeof identity === 'string') return failed(platform, flow, identity)
        if (flow.link !== null) return await linking(platform, session, flow, identity)
        return await signingIn({ platform, sessions }, session, flow, identity, {
          address,
          user_agent: raw.headers['user-agent'] ?? '',
        })
      },
    }),
  ]
}

async function start(
  platform: Platform,
  provider: Provider,
  { link, next }: { link?: string; next?: string },
  session: Session | null,
): Promise<Reply> {
  if (link !== undefined && session === null) return redirect(signInPage({ next: profile }))
  const wanted = ownPath(platform, next) ?? (link === undefined ? '/console' : profile)
  try {
    const { url, flow } = await provider.begin(
      `${platform.settings.base_url}${callbackPath}`,
      link === undefined && session !== null,
    )
    return redirect(
      url,
      oauthCookie(platform, { ...flow, next: wanted, link: link === undefined ? null : session!.id }),
    )
  } catch (error) {
    platform.log.warn({ err: error }, 'the OIDC provider is out of reach')
    return failed(platform, { next: wanted, link: link === undefined ? null : session!.id }, 'upstream_unavailable')
  }
}

async function identityAt(
  platform: Platform,
  provider: Provider,
  url: URL,
  flow: BegunFlow,
): Promise<PendingIdentity | 'invalid_credentials'> {
  try {
    return await provider.finish(url, flow)
  } catch (error) {
    platform.log.warn({ err: error }, 'nobody was signed in by the OIDC provider')
    return 'invalid_credentials'
  }
}

async function linking(
  platform: Platform,
  session: Session | null,
  flow: BegunFlow,
  identity: PendingIdentity,
): Promise<Reply> {
  if (session === null || session.id !== flow.link) return failed(platform, flow, 'oauth_pending_expired')
  await offer(platform, session.id, identity)
  return redirect(`${profile}?identity=pending`, noOAuthCookie(platform))
}

async function signingIn(
  { platform, sessions }: Pick<OAuthRoutesParts, 'platform' | 'sessions'>,
  session: Session | null,
  flow: BegunFlow,
  identity: PendingIdentity,
  from: From,
): Promise<Reply> {
  const user = await userOf(platform, identity)
  if (user === null) return failed(platform, flow, 'invalid_credentials')
  // one cookie per response: the flow's cookie expires by itself, and its code is used up
  const cookie = await sessions.begin(platform.pool, user, from)
  if (session?.user_id === user.id) await sessions.end(platform.pool, user.id, session.id)
  return redirect(flow.next, setCookie(platform.settings, cookie))
}

function failed(platform: Platform, flow: Pick<BegunFlow, 'next' | 'link'> | null, code: string): Reply {
  const page =
    flow === null || flow.link === null ? signInPage({ error: code, next: flow?.next }) : `${profile}?error=${code}`
  return redirect(page, noOAuthCookie(platform))
}

/** Relative to `/console`. */
function signInPage({
  error,
  next = '/console',
}: {
  readonly error?: string
  readonly next?: string | undefined
}): string {
  const query = new URLSearchParams(error === undefined ? {} : { error })
  if (next !== '/console') query.set('next', next.slice('/console'.length))
  return `/console/sign-in?${query.toString()}`
}

const redirect = (location: string, cookie?: string): Reply =>
  reply(302, null, { location, ...(cookie === undefined ? {} : { 'set-cookie': cookie }) })

/** undefined for anything but a path of the console. */
function ownPath({ settings }: Platform, path: string | undefined): string | undefined {
  if (path === undefined || !/^\/console(?:[/?]|$)/.test(path)) return undefined
  const url = URL.parse(path, settings.base_url)
  return url !== null && url.origin === new URL(settings.base_url).origin && /^\/console(?:\/|$)/.test(url.pathname)
    ? `${url.pathname}${url.search}`
    : undefined
}

/** (behaviour: console 3.14) */
export interface IdentityRoutesParts {
  readonly platform: Platform
  readonly sessions: Sessions
  readonly takeTurn: (address: string) => void
}

const sessionAccess = { access: 'session', scope: null } as const

export const identityRoutes = (parts: IdentityRoutesParts): ConsoleRoute[] => [
  ...oauthRoutes(parts),
  ...pendingRoutes(parts),
  ...linkedRoutes(parts),
]

const pendingRoutes = ({ platform }: IdentityRoutesParts): ConsoleRoute[] => [
  consoleRoute({
    ...sessionAccess,
    operation: 'oauth.retrieve_pending',
    method: 'GET',
    path: '/console/api/oauth/pending',
    summary: 'Which identity waits to be linked',
    replies: { 200: PendingIdentityObject },
    errors: [],
    refuses: ['oauth_pending_expired'],
    async handler({ session }) {
      const { email, until } = await pendingOf(platform, session)
      return reply(200, { object: 'oauth_pending', name: nameIn(platform), email, expires_at: until })
    },
  }),
  consoleRoute({
    ...sessionAccess,
    operation: 'oauth.settle_pending',
    method: 'POST',
    path: '/console/api/oauth/pending',
    summary: 'Link the pending identity, or cancel',
    description:
      'Within ten minutes. From then on it signs you in. It requires your password, or the code of your second factor, given since you came back from the provider.',
    body: Type.Object(
      {
        action: Type.Unsafe<'link' | 'cancel'>({
          type: 'string',
          enum: ['link', 'cancel'],
          description: 'Link the identity, or cancel.',
        }),
      },
      { additionalProperties: false },
    ),
    replies: { 200: deletedOf('oauth_pending'), 201: Identity },
    errors: [],
    refuses: ['reauthentication_required', 'oauth_pending_expired', 'identity_exists'],
    async handler({ session, body, sql }) {
      if (body.action === 'link') return reply(201, identityObject(platform, await link(platform, sql, session)))
      await cancel(platform, session)
      return reply(200, { id: session.id, object: 'oauth_pending', deleted: true })
    },
  }),
]

const linkedRoutes = ({ platform }: IdentityRoutesParts): ConsoleRoute[] => [
  consoleRoute({
    ...sessionAccess,
    operation: 'identities.list',
    method: 'GET',
    path: '/console/api/identities',
    summary: 'List your identities',
    replies: { 200: listOf(Identity) },
    errors: [],
    handler: async ({ session, sql }) =>
      reply(200, onePage((await listIdentities(sql, session.user_id)).map((row) => identityObject(platform, row)))),
  }),
  consoleRoute({
    ...sessionAccess,
    operation: 'identities.delete',
    method: 'DELETE',
    path: '/console/api/identities/{id}',
    summary: 'Unlink an identity',
    replies: { 200: deletedOf('identity') },
    errors: ['resource_missing'],
    refuses: ['reauthentication_required', 'last_sign_in_method'],
    async handler({ session, params, sql }) {
      await unlink(platform, sql, session, params['id']!)
      return reply(200, { id: params['id'], object: 'identity', deleted: true })
    },
  }),
]

const nameIn = ({ settings }: Platform): string => settings.oidc?.name ?? ''

const identityObject = (platform: Platform, { id, issuer, email, created_at }: IdentityRow) => ({
  object: 'identity',
  id,
  name: issuer === platform.settings.oidc?.issuer ? nameIn(platform) : new URL(issuer).host,
  email,
  created_at,
})
