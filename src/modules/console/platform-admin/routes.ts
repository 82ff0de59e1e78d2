/** Operations of platform administrators (behaviour: console 3.15). */
import { Type } from 'typebox'
import { isId } from '../../../api/ids.ts'
import { ConsoleSession } from '../../../api/resources/console-session.ts'
import { AdminAccount, AdminEmail, AdminUser } from '../../../api/resources/platform-admin.ts'
import { isoTime } from '../../../lib/clock.ts'
import { transact } from '../../../platform/database/sql.ts'
import { listOf, listQuery, pageOf, pageReply, requireCursor } from '../../../platform/http/paging.ts'
import { reply } from '../../../platform/http/route.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { AccountService } from '../../accounts/service.ts'
import { listEmails, type EmailWithStatus } from '../../mail/service.ts'
import { insertAudit } from '../audit/repository.ts'
import {
  findUser,
  insertMembership,
  listUsers,
  type MembershipRow,
  membershipsOf,
  type UserRow,
} from '../people/repository.ts'
import { consoleRoute, type ConsoleRoute } from '../route.ts'
import { cookieOf, sessionObject, type Sessions } from '../sign-in/sessions.ts'
import { beginImpersonation, endImpersonation } from './impersonation.ts'

export interface AdminRoutesParts {
  readonly platform: Platform
  readonly accounts: AccountService
  readonly sessions: Sessions
}

const facts = { access: 'admin', scope: null } as const
const closed = { additionalProperties: false } as const

export const adminRoutes = (parts: AdminRoutesParts): ConsoleRoute[] => [
  ...accountRoutes(parts),
  ...listRoutes(parts),
  ...impersonationRoutes(parts),
]

const accountRoutes = ({ platform, accounts }: AdminRoutesParts): ConsoleRoute[] => [
  consoleRoute({
    ...facts,
    operation: 'admin.list_accounts',
    method: 'GET',
    path: '/console/api/admin/accounts',
    summary: 'List every account',
    query: listQuery({}),
    replies: { 200: listOf(AdminAccount) },
    errors: [],
    async handler({ query, sql }) {
      const page = pageOf(query)
      await requireCursor(
        page.starting_after,
        'No account has the id',
        async (id) => isId('acc', id) && (await accounts.stateOf(sql, id)) !== null,
      )
      return reply(200, pageReply((await accounts.listPage(sql, page)).map(accountObject), page.limit))
    },
  }),
  consoleRoute({
    ...facts,
    operation: 'admin.create_account',
    method: 'POST',
    path: '/console/api/admin/accounts',
    summary: 'Make an account',
    description: 'Its first owner is whoever makes it.',
    body: Type.Object(
      { name: Type.String({ minLength: 1, maxLength: 500, description: 'Its name.', examples: ['Acme'] }) },
      closed,
    ),
    replies: { 201: AdminAccount },
    errors: [],
    async handler({ body, session, address, caller }) {
      const made = await transact(platform.pool, async (tx) => {
        const account = await accounts.create({ name: body.name }, tx)
        await insertMembership(
          tx,
          { account_id: account.id, user_id: session.user_id, role: 'owner' },
          isoTime(platform.clock.now()),
        )
        await insertAudit(tx, {
          account_id: account.id,
          id: platform.ids('aud'),
          actor_type: 'user',
          actor_id: session.user_id,
          impersonator_id: null,
          action: 'admin.create_account',
          object_id: account.id,
          changes: { name: account.name },
          address,
          request_id: caller.request_id,
          created_at: account.created_at,
        })
        return account
      })
      return reply(201, accountObject(made))
    },
  }),
]

const listRoutes = ({ accounts }: AdminRoutesParts): ConsoleRoute[] => [
  consoleRoute({
    ...facts,
    operation: 'admin.list_users',
    method: 'GET',
    path: '/console/api/admin/users',
    summary: 'List every user',
    query: listQuery({}),
    replies: { 200: listOf(AdminUser) },
    errors: [],
    async handler({ query, sql }) {
      const page = pageOf(query)
      await requireCursor(page.starting_after, 'No user has the id', async (id) => (await findUser(sql, id)) !== null)
      const rows = await listUsers(sql, page)
      const memberships = await membershipsOf(
        sql,
        rows.map(({ id }) => id),
      )
      const names = await accounts.namesOf(
        sql,
        memberships.map(({ account_id }) => account_id),
      )
      const of = Map.groupBy(memberships, ({ user_id }) => user_id)
      return reply(
        200,
        pageReply(
          rows.map((row) => userObject(row, of.get(row.id) ?? [], names)),
          page.limit,
        ),
      )
    },
  }),
  consoleRoute({
    ...facts,
    operation: 'admin.list_emails',
    method: 'GET',
    path: '/console/api/admin/emails',
    summary: 'List the e-mails',
    description: 'Without their contents.',
    query: listQuery({}),
    replies: { 200: listOf(AdminEmail) },
    errors: [],
    async handler({ query, sql }) {
      const page = pageOf(query)
      await requireCursor(page.starting_after, 'No e-mail has the id', (id) => Promise.resolve(/^\d{1,18}$/.test(id)))
      return reply(200, pageReply((await listEmails(sql, page)).map(emailObject), page.limit))
    },
  }),
]

const impersonationRoutes = ({ platform, accounts, sessions }: AdminRoutesParts): ConsoleRoute[] => [
  consoleRoute({
    ...facts,
    operation: 'impersonations.create',
    method: 'POST',
    path: '/console/api/admin/impersonations',
    summary: 'Act for an account',
    description:
      'For half an hour it is the only account that is open. You read, pause, retry, test and reconnect; its audit log shows you, and the reason.',
    body: Type.Object(
      {
        account: Type.String({ minLength: 1, maxLength: 100, description: 'Its id.' }),
        reason: Type.String({
          minLength: 1,
          maxLength: 500,
          description: 'Why, for its people to read.',
          examples: ['Ticket 4711: deliveries fail'],
        }),
      },
      closed,
    ),
    replies: { 201: ConsoleSession },
    errors: [],
    refuses: ['reauthentication_required'],
    async handler({ body, session, address, caller, raw }) {
      await beginImpersonation(platform, accounts, session, body, { address, request_id: caller.request_id })
      return reply(201, sessionObject((await sessions.find(cookieOf(raw, platform.settings)!))!))
    },
  }),
  consoleRoute({
    ...facts,
    operation: 'impersonations.delete',
    method: 'DELETE',
    path: '/console/api/admin/impersonations',
    summary: 'Act for yourself again',
    replies: { 200: ConsoleSession },
    errors: [],
    async handler({ session, address, caller, raw }) {
      await endImpersonation(platform, session, { address, request_id: caller.request_id })
      return reply(200, sessionObject((await sessions.find(cookieOf(raw, platform.settings)!))!))
    },
  }),
]

type AccountRow = Awaited<ReturnType<AccountService['create']>>

export const accountObject = ({ id, name, owner_email, suspended_at, created_at }: AccountRow) => ({
  object: 'admin_account' as const,
  id,
  name,
  owner_email,
  suspended_at,
  created_at,
})

export const userObject = (
  row: UserRow,
  memberships: readonly MembershipRow[],
  names: ReadonlyMap<string, string>,
) => ({
  object: 'admin_user' as const,
  id: row.id,
  name: row.name,
  email: row.email,
  admin: row.admin,
  two_factor: row.two_factor,
  accounts: memberships.map(({ account_id, role }) => ({ id: account_id, name: names.get(account_id) ?? '', role })),
  created_at: row.created_at,
})

const emailObject = ({
  id,
  account_id,
  recipient,
  subject,
  status,
  attempts,
  error,
  sent_at,
  created_at,
}: EmailWithStatus) => ({
  object: 'email' as const,
  id: String(id),
  account_id,
  recipient,
  subject,
  status,
  attempts,
  error,
  sent_at,
  created_at,
})
