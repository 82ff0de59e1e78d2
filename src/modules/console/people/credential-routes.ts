/** Operations on sign-in methods, re-authentication and the second factor (behaviour: console 3). */
import { Type } from 'typebox'
import { ConsoleSession, ConsoleSetup, RecoveryCodes, SecondFactor } from '../../../api/resources/console-session.ts'
import { deletedOf } from '../../../api/resources/shared-fields.ts'
import { reply } from '../../../platform/http/route.ts'
import type { Platform } from '../../../platform/platform.ts'
import { consoleRoute, type ConsoleRoute } from '../route.ts'
import { beginFactor, confirmFactor, removeFactor } from '../sign-in/second-factor.ts'
import { requireRecent, sessionObject, type Sessions } from '../sign-in/sessions.ts'
import { proveAgain } from '../sign-in/sign-in.ts'
import { removePassword } from './me.ts'
import { anyUser } from './repository.ts'

export interface CredentialRoutesParts {
  readonly platform: Platform
  readonly sessions: Sessions
  readonly takeTurn: (address: string) => void
}

const closed = { additionalProperties: false } as const

export const credentialRoutes = (parts: CredentialRoutesParts): ConsoleRoute[] => [
  setupRoute(parts),
  reauthenticateRoute(parts),
  ...factorRoutes(parts),
  passwordRoute(parts),
]

const setupRoute = ({ platform }: CredentialRoutesParts): ConsoleRoute =>
  consoleRoute({
    operation: 'setup.retrieve',
    method: 'GET',
    path: '/console/api/setup',
    access: 'public',
    scope: null,
    summary: 'List the sign-in methods',
    description: 'For pages shown before signing in.',
    replies: { 200: ConsoleSetup },
    errors: [],
    async handler() {
      const { oidc, smtp_url } = platform.settings
      const needed = !(await anyUser(platform.pool))
      return reply(200, {
        object: 'setup',
        needed,
        mail: smtp_url !== undefined,
        oauth: oidc === undefined ? null : { name: oidc.name },
      })
    },
  })

const reauthenticateRoute = ({ platform, sessions, takeTurn }: CredentialRoutesParts): ConsoleRoute =>
  consoleRoute({
    operation: 'session.reauthenticate',
    unaudited: true,
    method: 'POST',
    path: '/console/api/reauthenticate',
    access: 'session',
    scope: null,
    summary: 'Give your password once more',
    description:
      'Sensitive operations require a password, and a code if you have a second factor, given within the last 10 minutes (`POSTHORN_REAUTHENTICATE_AFTER_S`).',
    body: Type.Object(
      {
        password: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 1000,
            description:
              'Your password. Required if you have one; without one the code of your second factor is enough.',
          }),
        ),
        code: Type.Optional(
          Type.String({ maxLength: 100, description: 'Of the authenticator app, or a recovery code.' }),
        ),
      },
      closed,
    ),
    replies: { 200: ConsoleSession },
    errors: ['parameter_missing'],
    refuses: ['invalid_credentials', 'mfa_required', 'account_locked'],
    async handler({ session, body, address }) {
      // per session: nobody else at this address can use them up
      takeTurn(session.id)
      await proveAgain(platform, session, address, { password: body.password, code: body.code }, 'password')
      await sessions.renew(session.id)
      return reply(200, sessionObject(session))
    },
  })

const factorRoutes = (parts: CredentialRoutesParts): ConsoleRoute[] => [
  beginFactorRoute(parts),
  confirmFactorRoute(parts),
  removeFactorRoute(parts),
]

const beginFactorRoute = ({ platform }: CredentialRoutesParts): ConsoleRoute =>
  consoleRoute({
    operation: 'two_factor.create',
    // the confirmation is recorded instead
    unaudited: true,
    method: 'POST',
    path: '/console/api/two_factor',
    access: 'session',
    scope: null,
    summary: 'Begin a second factor',
    description:
      'Returns the secret for an authenticator app. It is active once its first code is sent to `POST /console/api/two_factor/confirm`.',
    replies: { 201: SecondFactor },
    errors: [],
    refuses: ['reauthentication_required'],
    async handler({ session }) {
      requireRecent(platform, session)
      return reply(201, { object: 'two_factor', ...(await beginFactor(platform, session)) })
    },
  })

const confirmFactorRoute = ({ platform, sessions, takeTurn }: CredentialRoutesParts): ConsoleRoute =>
  consoleRoute({
    operation: 'two_factor.confirm',
    method: 'POST',
    path: '/console/api/two_factor/confirm',
    access: 'session',
    scope: null,
    summary: 'Confirm a second factor',
    description:
      'With the code that the app shows. Answers ten recovery codes, each of one use, and ends your other sessions.',
    body: Type.Object(
      { code: Type.String({ minLength: 1, maxLength: 100, description: 'Six digits.', examples: ['123456'] }) },
      closed,
    ),
    replies: { 200: RecoveryCodes },
    errors: ['resource_missing'],
    refuses: ['reauthentication_required', 'invalid_credentials'],
    async handler({ session, body, sql }) {
      requireRecent(platform, session)
      takeTurn(session.id)
      return reply(200, {
        object: 'recovery_codes',
        recovery_codes: await confirmFactor(platform, sql, sessions, session, body.code),
      })
    },
  })

const removeFactorRoute = ({ platform }: CredentialRoutesParts): ConsoleRoute =>
  consoleRoute({
    operation: 'two_factor.delete',
    method: 'DELETE',
    path: '/console/api/two_factor',
    access: 'session',
    scope: null,
    summary: 'Sign in without a second factor again',
    replies: { 200: deletedOf('two_factor') },
    errors: [],
    refuses: ['reauthentication_required'],
    async handler({ session, sql }) {
      requireRecent(platform, session)
      await removeFactor(sql, session)
      return reply(200, { id: session.user_id, object: 'two_factor', deleted: true })
    },
  })

const passwordRoute = ({ platform, sessions }: CredentialRoutesParts): ConsoleRoute =>
  consoleRoute({
    operation: 'me.delete_password',
    method: 'DELETE',
    path: '/console/api/me/password',
    access: 'session',
    scope: null,
    summary: 'Sign in without a password',
    description: 'Requires a linked identity of the OIDC provider.',
    replies: { 200: deletedOf('password') },
    errors: [],
    refuses: ['reauthentication_required', 'last_sign_in_method'],
    async handler({ session, sql }) {
      await removePassword(platform, sql, sessions, session)
      return reply(200, { id: session.user_id, object: 'password', deleted: true })
    },
  })
