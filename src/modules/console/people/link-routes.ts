/** Links for people who are not signed in: password resets, e-mail addresses and invitations (behaviour: console 3). */
import { Type } from 'typebox'
import { Problem } from '../../../api/problem.ts'
import { ConsoleSession } from '../../../api/resources/console-session.ts'
import { objectName } from '../../../api/resources/shared-fields.ts'
import { InvitationPreview } from '../../../api/resources/team.ts'
import { reply } from '../../../platform/http/route.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { AccountService } from '../../accounts/service.ts'
import { consoleRoute, type ConsoleRoute } from '../route.ts'
import { cookieOf, sessionObject, type Sessions, startSession } from '../sign-in/sessions.ts'
import { accept, invitationOf } from '../team/invitations.ts'
import { findUserByEmail } from './repository.ts'
import { confirmEmail } from './email-change.ts'
import type { Resets } from './resets.ts'

export interface LinkRoutesParts {
  readonly platform: Platform
  readonly accounts: AccountService
  readonly sessions: Sessions
  readonly resets: Resets
  readonly takeTurn: (address: string) => void
  /** Counted apart, so that nothing else at the address can use up the way back in. */
  readonly takeResetTurn: (address: string) => void
}

const closed = { additionalProperties: false } as const
const facts = { access: 'public', scope: null } as const
const Token = Type.String({ minLength: 1, maxLength: 100, description: 'The text after `#` in the link.' })
const Password = (description: string) => Type.String({ minLength: 1, maxLength: 1000, description })

export const linkRoutes = (parts: LinkRoutesParts): ConsoleRoute[] => [
  ...resetRoutes(parts),
  confirmEmailRoute(parts),
  previewRoute(parts),
  acceptRoute(parts),
]

const resetRoutes = ({ resets, takeResetTurn }: LinkRoutesParts): ConsoleRoute[] => [
  consoleRoute({
    ...facts,
    operation: 'password_resets.create',
    method: 'POST',
    path: '/console/api/password_resets',
    summary: 'Ask for a new password',
    description:
      'Mails a link that is valid for one hour if a user has this e-mail address, at most 3 an hour and 10 a day; the response is the same if none has or none is sent. Earlier links stay valid until one is used.',
    body: Type.Object(
      {
        email: Type.String({
          minLength: 1,
          maxLength: 320,
          description: 'The e-mail address.',
          examples: ['owner@example.com'],
        }),
      },
      closed,
    ),
    replies: { 202: Type.Object({ object: objectName('password_reset') }) },
    errors: [],
    async handler({ body, address }) {
      takeResetTurn(address)
      resets.ask(body.email)
      return reply(202, { object: 'password_reset' })
    },
  }),
  consoleRoute({
    ...facts,
    operation: 'password_resets.confirm',
    method: 'POST',
    path: '/console/api/password_resets/confirm',
    summary: 'Choose a new password',
    description:
      'With a link. It ends all sessions, all other links and linked identities of the user, and unlocks signing in.',
    body: Type.Object({ token: Token, password: Password('12 to 200 characters.') }, closed),
    replies: { 200: Type.Object({ object: objectName('password_reset') }) },
    errors: [],
    refuses: ['token_invalid'],
    async handler({ body, address, caller }) {
      takeResetTurn(address)
      await resets.confirm(body.token, body.password, { address, request_id: caller.request_id })
      return reply(200, { object: 'password_reset' })
    },
  }),
]

const confirmEmailRoute = ({ platform, takeResetTurn }: LinkRoutesParts): ConsoleRoute =>
  consoleRoute({
    ...facts,
    operation: 'email_confirmations.create',
    method: 'POST',
    path: '/console/api/email_confirmations',
    summary: 'Confirm an e-mail address',
    description:
      'With the link that was sent to the new address. From then on its user signs in with it; the address before it gets an e-mail.',
    body: Type.Object({ token: Token }, closed),
    replies: {
      200: Type.Object({
        object: objectName('email_confirmation'),
        email: Type.String({ description: 'The address that the user has from now on.' }),
      }),
    },
    errors: [],
    refuses: ['token_invalid', 'email_taken'],
    async handler({ body, address, caller }) {
      takeResetTurn(address)
      const email = await confirmEmail(platform, body.token, { address, request_id: caller.request_id })
      return reply(200, { object: 'email_confirmation', email })
    },
  })

const previewRoute = ({ platform, accounts, takeTurn }: LinkRoutesParts): ConsoleRoute =>
  consoleRoute({
    ...facts,
    operation: 'invitations.preview',
    method: 'POST',
    path: '/console/api/invitations/preview',
    summary: 'Get the invitation of a link',
    body: Type.Object({ token: Token }, closed),
    replies: { 200: InvitationPreview },
    errors: [],
    refuses: ['token_invalid'],
    async handler({ body, session, address, sql }) {
      takeTurn(address)
      const { account_id, email, email_id, role } = await invitationOf(platform, body.token)
      const user = await findUserByEmail(sql, email)
      const name = (await accounts.namesOf(sql, [account_id])).get(account_id)
      if (name === undefined) throw new Problem('token_invalid')
      return reply(200, {
        object: 'invitation_preview',
        account_name: name,
        email,
        role,
        // an inviter who was shown the link must not learn who has a user elsewhere
        has_user: user !== null && (email_id !== null || session?.user_id === user.id),
      })
    },
  })

const acceptRoute = ({ platform, sessions, takeTurn }: LinkRoutesParts): ConsoleRoute =>
  consoleRoute({
    ...facts,
    operation: 'invitations.accept',
    method: 'POST',
    path: '/console/api/invitations/accept',
    summary: 'Join an account',
    description:
      'New users give a name and choose a password. Existing users are signed in with that e-mail address, or give their password.',
    body: Type.Object(
      {
        token: Token,
        name: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 500,
            description: 'As it is shown to others.',
            examples: ['Ada Lovelace'],
          }),
        ),
        password: Type.Optional(Password('A new one of 12 to 200 characters, or the one that you have.')),
        code: Type.Optional(
          Type.String({
            maxLength: 100,
            description: 'Of the authenticator app, or a recovery code, where you have a second factor.',
          }),
        ),
      },
      closed,
    ),
    replies: { 201: ConsoleSession },
    errors: [],
    refuses: [
      'token_invalid',
      'session_required',
      'member_exists',
      'invalid_credentials',
      'mfa_required',
      'account_locked',
    ],
    async handler({ body, session, address, caller, raw }) {
      takeTurn(address)
      const user = await accept(platform, body, session, { address, request_id: caller.request_id })
      if (session?.user_id === user.id)
        return reply(201, sessionObject((await sessions.find(cookieOf(raw, platform.settings)!))!))
      return await startSession({ platform, sessions }, user, address, raw)
    },
  })
