/** Operations on members and invitations (behaviour: console 3). */
import { Type } from 'typebox'
import { roleNames } from '../../../api/resources/console-session.ts'
import { deletedOf } from '../../../api/resources/shared-fields.ts'
import { Invitation, Member } from '../../../api/resources/team.ts'
import { isoTime } from '../../../lib/clock.ts'
import { listOf, onePage } from '../../../platform/http/paging.ts'
import { reply } from '../../../platform/http/route.ts'
import type { Platform } from '../../../platform/platform.ts'
import { emailsOf, type EmailWithStatus } from '../../mail/service.ts'
import type { Role } from '../roles.ts'
import { consoleRoute, type ConsoleRoute } from '../route.ts'
import { requireRecent, roleIn } from '../sign-in/sessions.ts'
import { invite, withdraw } from './invitations.ts'
import { changeRole, removeMember, requireGrant } from './members.ts'
import * as repository from './repository.ts'

const facts = { access: 'account', permission: 'team', scope: null } as const
const closed = { additionalProperties: false } as const
const RoleField = Type.Unsafe<Role>({
  type: 'string',
  enum: roleNames,
  description: 'The role. An admin cannot grant `owner`.',
})

export const teamRoutes = (platform: Platform): ConsoleRoute[] => [
  ...memberRoutes(platform),
  ...invitationRoutes(platform),
]

const listMembersRoute = consoleRoute({
  ...facts,
  operation: 'members.list',
  method: 'GET',
  path: '/console/api/members',
  summary: 'List the members',
  description: 'Longest-standing members first.',
  replies: { 200: listOf(Member) },
  errors: [],
  handler: async ({ caller, sql }) =>
    reply(200, onePage((await repository.listMembers(sql, caller.account_id)).map(memberObject))),
})

const updateMemberRoute = (platform: Platform): ConsoleRoute =>
  consoleRoute({
    ...facts,
    operation: 'members.update',
    method: 'PATCH',
    path: '/console/api/members/{id}',
    summary: "Change a member's role",
    description:
      'You cannot change your own role, and an admin cannot change an owner. Invitations that the new role may not grant are withdrawn.',
    body: Type.Object({ role: RoleField }, closed),
    replies: { 200: Member },
    errors: ['resource_missing'],
    refuses: ['reauthentication_required', 'role_not_allowed'],
    async handler({ caller, session, params, body, sql }) {
      requireRecent(platform, session)
      return reply(
        200,
        memberObject(
          await changeRole(sql, { account_id: caller.account_id, user_id: session.user_id }, params['id']!, body.role),
        ),
      )
    },
  })

const deleteMemberRoute = (platform: Platform): ConsoleRoute =>
  consoleRoute({
    ...facts,
    operation: 'members.delete',
    method: 'DELETE',
    path: '/console/api/members/{id}',
    summary: 'Remove a member',
    description: 'They lose access at once, and their invitations are withdrawn. The last owner cannot be removed.',
    replies: { 200: deletedOf('member') },
    errors: ['resource_missing'],
    refuses: ['reauthentication_required', 'role_not_allowed'],
    async handler({ caller, session, params, sql }) {
      requireRecent(platform, session)
      await removeMember(sql, { account_id: caller.account_id, user_id: session.user_id }, params['id']!)
      return reply(200, { id: params['id'], object: 'member', deleted: true })
    },
  })

const memberRoutes = (platform: Platform): ConsoleRoute[] => [
  listMembersRoute,
  updateMemberRoute(platform),
  deleteMemberRoute(platform),
]

const listInvitationsRoute = (platform: Platform): ConsoleRoute =>
  consoleRoute({
    ...facts,
    operation: 'invitations.list',
    method: 'GET',
    path: '/console/api/invitations',
    summary: 'List the open invitations',
    replies: { 200: listOf(Invitation) },
    errors: [],
    async handler({ caller, sql }) {
      const rows = await repository.listInvitations(sql, caller.account_id, isoTime(platform.clock.now()))
      const mails = await emailsOf(
        sql,
        rows.flatMap(({ email_id }) => (email_id === null ? [] : [email_id])),
      )
      return reply(200, onePage(rows.map((row) => invitationObject({ ...row, url: null }, mails))))
    },
  })

const createInvitationRoute = (platform: Platform): ConsoleRoute =>
  consoleRoute({
    ...facts,
    operation: 'invitations.create',
    method: 'POST',
    path: '/console/api/invitations',
    secret_reply: true,
    summary: 'Invite somebody',
    description:
      'Mails a link that is valid for seven days, or returns it as `url` if there is no mail server. Inviting the same e-mail address again ends the earlier link, and requires the right to withdraw it. An account may invite 20 times in 24 hours (`POSTHORN_INVITATIONS_PER_DAY`), and an address 3 times.',
    body: Type.Object(
      {
        email: Type.String({
          minLength: 1,
          maxLength: 320,
          description: 'The e-mail address of the invited person.',
          examples: ['ada@example.com'],
        }),
        role: RoleField,
      },
      closed,
    ),
    replies: { 201: Invitation },
    errors: [],
    refuses: ['reauthentication_required', 'role_not_allowed', 'member_exists'],
    authorize({ caller: { account_id }, session, body }) {
      if (body['role'] === 'owner') requireGrant(roleIn(session, account_id), 'owner')
    },
    permit({ caller: { account_id }, session, body }) {
      requireGrant(roleIn(session, account_id), body.role)
      requireRecent(platform, session)
    },
    async handler({ caller, session, body, sql }) {
      const { account_id, account_name } = caller
      const made = await invite(
        platform,
        sql,
        { account_id, account_name, user_id: session.user_id, name: session.name },
        body,
      )
      return reply(201, invitationObject(made, await emailsOf(sql, made.email_id === null ? [] : [made.email_id])))
    },
  })

const deleteInvitationRoute = (platform: Platform): ConsoleRoute =>
  consoleRoute({
    ...facts,
    operation: 'invitations.delete',
    method: 'DELETE',
    path: '/console/api/invitations/{id}',
    summary: 'Withdraw an invitation',
    replies: { 200: deletedOf('invitation') },
    errors: ['resource_missing'],
    refuses: ['reauthentication_required', 'role_not_allowed'],
    async handler({ caller, session, params, sql }) {
      requireRecent(platform, session)
      await withdraw(sql, { account_id: caller.account_id, user_id: session.user_id }, params['id']!)
      return reply(200, { id: params['id'], object: 'invitation', deleted: true })
    },
  })

const invitationRoutes = (platform: Platform): ConsoleRoute[] => [
  listInvitationsRoute(platform),
  createInvitationRoute(platform),
  deleteInvitationRoute(platform),
]

const memberObject = ({ id, name, email, role, two_factor, created_at }: repository.MemberRow) => ({
  object: 'member',
  id,
  name,
  email,
  role,
  two_factor,
  created_at,
})

function invitationObject(
  row: repository.InvitationRow & { readonly url: string | null },
  mails: ReadonlyMap<number, EmailWithStatus>,
) {
  const mail = row.email_id === null ? undefined : mails.get(row.email_id)
  const { id, email, role, invited_by, url, expires_at, created_at } = row
  return {
    object: 'invitation',
    id,
    email,
    role,
    invited_by,
    mail: mail === undefined ? null : { status: mail.status, error: mail.error },
    url,
    expires_at,
    created_at,
  }
}
