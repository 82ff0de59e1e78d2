/** The OIDC provider, and the identities that are linked with it (behaviour: console 3.14). */
import { Type } from 'typebox'
import { Identity, PendingIdentity } from '../../../api/resources/identity.ts'
import { deletedOf } from '../../../api/resources/shared-fields.ts'
import { listOf, onePage } from '../../../platform/http/paging.ts'
import { reply } from '../../../platform/http/route.ts'
import type { Platform } from '../../../platform/platform.ts'
import { consoleRoute, type ConsoleRoute } from '../console-route.ts'
import type { Sessions } from '../sessions/sessions.ts'
import { cancel, link, pendingOf, unlink } from './identities.ts'
import { oauthRoutes } from './oauth-routes.ts'
import { listIdentities, type IdentityRow } from './store.ts'

export interface IdentityRoutesParts {
  readonly platform: Platform
  readonly sessions: Sessions
  /** Counts a try of an address. */
  readonly takeTurn: (address: string) => void
}

const facts = { access: 'session', scope: null } as const

export const identityRoutes = (parts: IdentityRoutesParts): ConsoleRoute[] => [
  ...oauthRoutes(parts),
  ...pendingRoutes(parts),
  ...linkedRoutes(parts),
]

const pendingRoutes = ({ platform }: IdentityRoutesParts): ConsoleRoute[] => [
  consoleRoute({
    ...facts,
    operation: 'oauth.retrieve_pending',
    method: 'GET',
    path: '/console/api/oauth/pending',
    summary: 'Which identity waits to be linked',
    replies: { 200: PendingIdentity },
    errors: [],
    refuses: ['oauth_pending_expired'],
    async handler({ session }) {
      const { email, until } = await pendingOf(platform, session)
      return reply(200, { object: 'oauth_pending', name: nameIn(platform), email, expires_at: until })
    },
  }),
  consoleRoute({
    ...facts,
    operation: 'oauth.settle_pending',
    method: 'POST',
    path: '/console/api/oauth/pending',
    summary: 'Link the identity that waits, or do not',
    description: 'Within ten minutes. From then on it signs you in.',
    body: Type.Object(
      {
        action: Type.Unsafe<'link' | 'cancel'>({
          type: 'string',
          enum: ['link', 'cancel'],
          description: 'What becomes of it.',
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
    ...facts,
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
    ...facts,
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
