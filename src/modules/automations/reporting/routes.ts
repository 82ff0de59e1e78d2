/** What can be asked about what sources report (behaviour: integrations 3). */
import { Type } from 'typebox'
import { DateTimeQuery } from '../../../api/date-time-query.ts'
import {
  AutomationEvent,
  automationEventLimits,
  EventReport,
  receiptStatuses,
} from '../../../api/resources/automation-event.ts'
import { listOf, listQuery, pageOf } from '../../../platform/http/paging.ts'
import { reply, route, type Route } from '../../../platform/http/route.ts'
import { factsOf, type Reported } from './reported.ts'
import { getReceipt, pageOfReceipts } from './receipts.ts'
import type { Reporting } from './reporting.ts'

const tag = 'Automation events'

const answered = ({ receipt, duplicate }: Reported) => reply(duplicate ? 200 : 202, receipt)

export const reportingRoutes = (reporting: Reporting): Route[] => [
  route({
    operation: 'automation_events.create',
    method: 'POST',
    path: '/v1/automation_events',
    scope: 'automation_events:write',
    // the transaction of the events that come at the same time keeps it
    idempotent: 'lease',
    tag,
    summary: 'Report what happened in a shop or site',
    description:
      'Answers 202 with the receipt once the event is stored, with the runs of the automations that are for it. The same `source` and `event_id` again is 200, the first receipt with ' +
      '`status` `duplicate`; nothing runs twice. At most 256 KB.',
    body: EventReport,
    body_bytes_max: automationEventLimits.body_bytes,
    example_body: {
      source: 'src_01kg9p6je0e6z9vsnhtbf6d24v',
      type: 'order.shipped',
      event_id: 'shipped-1001',
      customer: { phone: '+4915112345678', first_name: 'Ada' },
      data: {
        order: { id: '1001', number: '#1001', shipping: { carrier: 'DHL', tracking_url: 'https://www.dhl.de/1001' } },
      },
    },
    replies: { 200: AutomationEvent, 202: AutomationEvent },
    errors: ['resource_missing', 'source_disabled', 'upstream_unavailable'],
    async handler({ caller, body, keep, arrived_at }) {
      const { account_id, mode } = caller
      const source = { account_id, mode, id: body.source }
      const event = { source, origin: 'api', ...factsOf(body, arrived_at) } as const
      return answered(await reporting.report(event, (tx, reported) => keep(tx, answered(reported))))
    },
  }),
  route({
    operation: 'automation_events.list',
    method: 'GET',
    path: '/v1/automation_events',
    scope: 'automation_events:read',
    tag,
    summary: 'List the receipts of reported events',
    description:
      'Newest first, with what has become of their runs. A page ends before its `limit` where it shows more than 4 MB of data.',
    query: listQuery({
      source: Type.Optional(Type.String({ minLength: 1, description: 'Of this integration source (`src_`).' })),
      type: Type.Optional(Type.String({ minLength: 1, description: 'Of this type of event, as it was reported.' })),
      status: Type.Optional(Type.String({ enum: [...receiptStatuses], description: 'With this status.' })),
      created_after: Type.Optional(DateTimeQuery),
      created_before: Type.Optional(DateTimeQuery),
    }),
    // what few receipts are of is looked for among all of them
    expensive: {
      when: ({ type, status }) => type !== undefined || status !== undefined,
      narrow: 'Ask for a shorter time with created_after and created_before.',
    },
    replies: { 200: listOf(AutomationEvent) },
    errors: [],
    handler: async ({ caller, query, sql }) => {
      const { data, has_more } = await pageOfReceipts(sql, caller, query, pageOf(query))
      return reply(200, { object: 'list', data, has_more, next_cursor: has_more ? data.at(-1)!.id : null })
    },
  }),
  route({
    operation: 'automation_events.retrieve',
    method: 'GET',
    path: '/v1/automation_events/{id}',
    scope: 'automation_events:read',
    tag,
    summary: 'Retrieve the receipt of a reported event',
    description: 'With the runs that came of it, and why where none did.',
    replies: { 200: AutomationEvent },
    errors: ['resource_missing'],
    handler: async ({ caller, params, sql }) => reply(200, await getReceipt(sql, caller, params['id']!)),
  }),
]
