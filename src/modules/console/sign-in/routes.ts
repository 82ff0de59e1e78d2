/** Set-up, signing in and out, sessions, and the own user (behaviour: console 2). */
import { Type } from 'typebox'
import { Problem } from '../../../api/problem.ts'
import { ConsoleSession, ConsoleUser, SessionSummary } from '../../../api/resources/console-session.ts'
import { deletedOf } from '../../../api/resources/shared-fields.ts'
import { transact } from '../../../platform/database/sql.ts'
import { listOf, onePage } from '../../../platform/http/paging.ts'
import { reply } from '../../../platform/http/route.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { AccountService } from '../../accounts/service.ts'
import { updateMe } from '../people/me.ts'
import { setUp } from '../people/setup.ts'
import { consoleRoute, type ConsoleRoute } from '../route.ts'
import { clearCookie, sessionObject, type Sessions, startSession, summaryObject, userObject } from './sessions.ts'
import { signIn } from './sign-in.ts'

export interface SessionRoutesParts {
  readonly platform: Platform
  readonly accounts: AccountService
  readonly sessions: Sessions
  readonly takeTurn: (address: string) => void
}

const Password = (description: string) => Type.String({ minLength: 1, maxLength: 1000, description })
const Email = Type.String({
  minLength: 1,
  maxLength: 320,
  description: 'The e-mail address.',
  examples: ['owner@example.com'],
})
const Name = Type.String({
  minLength: 1,
  maxLength: 500,
  description: 'As it is shown to others.',
  examples: ['Ada Lovelace'],
})

const closed = { additionalProperties: false } as const

const setUpRoute = (parts: SessionRoutesParts): ConsoleRoute =>
  consoleRoute({
    operation: 'setup.create',
    method: 'POST',
    path: '/console/api/setup',
    access: 'public',
    scope: null,
    summary: 'Create the first owner',
    description:
      'Uses the link that the service prints at start while nobody can sign in. The first user owns the oldest account and administers the platform.',
    body: Type.Object(
      {
        token: Type.String({ minLength: 1, maxLength: 100, description: 'The text after `#` in the link.' }),
        name: Name,
        email: Email,
        password: Password('12 to 200 characters.'),
      },
      closed,
    ),
    replies: { 201: ConsoleSession },
    errors: [],
    refuses: ['token_invalid', 'invalid_credentials'],
    async handler({ body, address, caller, raw }) {
      parts.takeTurn(address)
      const user = await setUp(parts.platform, parts.accounts, body, address, caller.request_id)
      return await startSession(parts, user, address, raw)
    },
  })

const signInRoute = (parts: SessionRoutesParts): ConsoleRoute =>
  consoleRoute({
    operation: 'session.create',
    method: 'POST',
    path: '/console/api/session',
    access: 'public',
    scope: null,
    summary: 'Sign in',
    description:
      'Sets the cookie of the session. After five failures in a row from one network, and after 100 in an hour from all, signing in by an e-mail address, known or not, is locked for 15 minutes.',
    body: Type.Object(
      {
        email: Email,
        password: Password('The password.'),
        code: Type.Optional(
          Type.String({ maxLength: 100, description: 'Of the authenticator app, or a recovery code.' }),
        ),
      },
      closed,
    ),
    replies: { 201: ConsoleSession },
    errors: [],
    refuses: ['invalid_credentials', 'mfa_required', 'account_locked'],
    async handler({ body, address, raw }) {
      parts.takeTurn(address)
      return await startSession(parts, await signIn(parts.platform, body, address), address, raw)
    },
  })

const retrieveSessionRoute = consoleRoute({
  operation: 'session.retrieve',
  method: 'GET',
  path: '/console/api/session',
  access: 'session',
  scope: null,
  summary: 'Who is signed in',
  replies: { 200: ConsoleSession },
  errors: [],
  handler: async ({ session }) => reply(200, sessionObject(session)),
})

const signOutRoute = ({ platform, sessions }: SessionRoutesParts): ConsoleRoute =>
  consoleRoute({
    operation: 'session.delete',
    unaudited: true,
    method: 'DELETE',
    path: '/console/api/session',
    access: 'session',
    scope: null,
    summary: 'Sign out',
    replies: { 200: deletedOf('session') },
    errors: [],
    async handler({ session }) {
      await sessions.end(platform.pool, session.user_id, session.id)
      return reply(
        200,
        { id: session.id, object: 'session', deleted: true },
        { 'set-cookie': clearCookie(platform.settings) },
      )
    },
  })

const listSessionsRoute = ({ sessions }: SessionRoutesParts): ConsoleRoute =>
  consoleRoute({
    operation: 'sessions.list',
    method: 'GET',
    path: '/console/api/sessions',
    access: 'session',
    scope: null,
    summary: 'Where you are signed in',
    replies: { 200: listOf(SessionSummary) },
    errors: [],
    async handler({ session }) {
      const rows = await sessions.list(session.user_id)
      return reply(200, onePage(rows.map((row) => summaryObject(row, session.id))))
    },
  })

const deleteOtherSessionsRoute = ({ sessions }: SessionRoutesParts): ConsoleRoute =>
  consoleRoute({
    operation: 'sessions.delete_all',
    method: 'DELETE',
    path: '/console/api/sessions',
    access: 'session',
    scope: null,
    summary: 'Sign out everywhere else',
    replies: {
      200: Type.Object({
        object: Type.Literal('session_deletion', { description: 'Always `session_deletion`.' }),
        count: Type.Integer({ description: 'Sessions that were ended.' }),
      }),
    },
    errors: [],
    async handler({ session, sql }) {
      const { count } = await transact(sql, async (tx) => ({
        count: await sessions.endOthers(tx, session.user_id, session.id),
      }))
      return reply(200, { object: 'session_deletion', count })
    },
  })

const deleteSessionRoute = ({ sessions }: SessionRoutesParts): ConsoleRoute =>
  consoleRoute({
    operation: 'sessions.delete',
    method: 'DELETE',
    path: '/console/api/sessions/{id}',
    access: 'session',
    scope: null,
    summary: 'Sign out somewhere else',
    replies: { 200: deletedOf('session') },
    errors: ['resource_missing'],
    async handler({ session, params, sql }) {
      await transact(sql, async (tx) => {
        if (!(await sessions.end(tx, session.user_id, params['id']!)))
          throw new Problem('resource_missing', 'None of your sessions has this id. Reload the list.')
      })
      return reply(200, { id: params['id'], object: 'session', deleted: true })
    },
  })

const retrieveMeRoute = consoleRoute({
  operation: 'me.retrieve',
  method: 'GET',
  path: '/console/api/me',
  access: 'session',
  scope: null,
  summary: 'Who you are',
  replies: { 200: ConsoleUser },
  errors: [],
  handler: async ({ session }) => reply(200, userObject(session)),
})

const updateMeRoute = ({ platform, sessions }: SessionRoutesParts): ConsoleRoute =>
  consoleRoute({
    operation: 'me.update',
    method: 'PATCH',
    path: '/console/api/me',
    access: 'session',
    scope: null,
    summary: 'Change your name, e-mail address or password',
    description:
      'A new password requires the current one and ends your other sessions and all links. A new e-mail address requires the current password or a recent authentication. It is `pending_email` until its link is opened; your present address withdraws it.',
    body: Type.Object(
      {
        name: Type.Optional(Name),
        email: Type.Optional(Email),
        current_password: Type.Optional(Password('Required for a new password.')),
        code: Type.Optional(
          Type.String({
            maxLength: 100,
            description:
              'Of the authenticator app, or a recovery code. Required beside `current_password` if you have a second factor.',
          }),
        ),
        new_password: Type.Optional(Password('12 to 200 characters.')),
      },
      closed,
    ),
    replies: { 200: ConsoleUser },
    errors: ['parameter_missing', 'resource_missing'],
    refuses: ['reauthentication_required', 'email_taken', 'invalid_credentials', 'mfa_required', 'account_locked'],
    async handler({ session, body, address, sql }) {
      const changed = await updateMe(platform, sql, sessions, session, body, address)
      return reply(
        200,
        userObject({ ...session, name: changed.name, email: changed.email, pending_email: changed.pending_email }),
      )
    },
  })

export const sessionRoutes = (parts: SessionRoutesParts): ConsoleRoute[] => [
  setUpRoute(parts),
  signInRoute(parts),
  retrieveSessionRoute,
  signOutRoute(parts),
  listSessionsRoute(parts),
  deleteOtherSessionsRoute(parts),
  deleteSessionRoute(parts),
  retrieveMeRoute,
  updateMeRoute(parts),
]
