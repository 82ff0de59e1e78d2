/** What can be asked about runs (behaviour: integrations 6). */
import { Type } from 'typebox'
import { AutomationRun, runStatuses, type RunStatus } from '../../../api/resources/automation-run.ts'
import { listOf, listQuery, pageOf, pageReply } from '../../../platform/http/paging.ts'
import { reply, route, type Route } from '../../../platform/http/route.ts'
import { getRun, listRuns } from './reading.ts'

const tag = 'Automations'

export const runRoutes: readonly Route[] = [
  route({
    operation: 'automation_runs.list',
    method: 'GET',
    path: '/v1/automation_runs',
    scope: 'integrations:read',
    tag,
    summary: 'List automation runs',
    description: 'Newest first: what each automation did about each event, and why where it sent nothing.',
    expensive: {
      // the index of either holds everything of the other
      when: ({ automation, status }) => automation !== undefined && status !== undefined,
      narrow: 'Ask for the automation or for the status alone.',
    },
    query: listQuery({
      automation: Type.Optional(Type.String({ minLength: 1, description: 'Of this automation (`aut_`).' })),
      status: Type.Optional(Type.String({ enum: [...runStatuses], description: 'With this status now.' })),
    }),
    replies: { 200: listOf(AutomationRun) },
    errors: [],
    handler: async ({ caller, query, sql }) => {
      const page = pageOf(query)
      const filters = { automation: query.automation, status: query.status as RunStatus | undefined }
      return reply(200, pageReply(await listRuns(sql, caller, filters, page), page.limit))
    },
  }),
  route({
    operation: 'automation_runs.retrieve',
    method: 'GET',
    path: '/v1/automation_runs/{id}',
    scope: 'integrations:read',
    tag,
    summary: 'Retrieve an automation run',
    description:
      'What became of it: `message_id` names the message, which tells the rest itself; `reason` why there is none.',
    replies: { 200: AutomationRun },
    errors: ['resource_missing'],
    handler: async ({ caller, params, sql }) => reply(200, await getRun(sql, caller, params['id']!)),
  }),
]
