/** Operations of the audit log (behaviour: console-records 1). */
import { Type } from 'typebox'
import { DateTimeQuery } from '../../../api/date-time-query.ts'
import { isId } from '../../../api/ids.ts'
import { AuditEntry } from '../../../api/resources/audit-entry.ts'
import { listOf, listQuery, pageOf, pageReply, requireCursor } from '../../../platform/http/paging.ts'
import { reply } from '../../../platform/http/route.ts'
import { consoleRoute, type ConsoleRoute } from '../route.ts'
import { auditExists, type AuditRow, listAudit } from './repository.ts'

const id = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 100, description }))

export const auditRoutes: ConsoleRoute[] = [
  consoleRoute({
    operation: 'audit_entries.list',
    method: 'GET',
    path: '/console/api/audit_entries',
    access: 'account',
    permission: 'audit',
    scope: null,
    summary: 'List the entries of the audit log',
    description:
      'The changes of the account in both modes, newest first. Single contacts and messages have a history of their own and are not in it.',
    query: listQuery({
      actor: id('Only entries of this user (`usr_`), API key (`key_`) or command, also when acting for somebody else.'),
      object_id: id('Only changes of the object with this id.'),
      created_after: Type.Optional(DateTimeQuery),
      created_before: Type.Optional(DateTimeQuery),
    }),
    replies: { 200: listOf(AuditEntry) },
    errors: [],
    async handler({ caller: { account_id }, query, sql }) {
      const page = pageOf(query)
      await requireCursor(
        page.starting_after,
        'No entry has the id',
        async (cursor) => isId('aud', cursor) && (await auditExists(sql, account_id, cursor)),
      )
      return reply(200, pageReply((await listAudit(sql, account_id, query, page)).map(auditObject), page.limit))
    },
  }),
]

const auditObject = (row: AuditRow): AuditEntry => ({
  object: 'audit_entry',
  id: row.id,
  actor: { type: row.actor_type, id: row.actor_id },
  impersonator_id: row.impersonator_id,
  action: row.action,
  object_id: row.object_id,
  changes: { ...row.changes },
  address: row.address,
  request_id: row.request_id,
  created_at: row.created_at,
})
