/** Routes of the module (behaviour: integrations 5, 6). */
import { Type } from 'typebox'
import { automationEventLimits } from '../../api/resources/automation-event.ts'
import { AutomationRun, type RunStatus, runStatuses } from '../../api/resources/automation-run.ts'
import {
  Automation,
  AutomationCreation,
  AutomationSimulation,
  AutomationSimulationRequest,
  type AutomationStatus,
  automationStatuses,
  AutomationUpdate,
  SimulatedEvent,
} from '../../api/resources/automation.ts'
import { deletedOf } from '../../api/resources/shared-fields.ts'
import type { AutomationService } from './automation-service.ts'
import { eventRoutes, ingestRoutes } from './events/routes.ts'
import { getRun, listRuns } from './queries.ts'
import type { AutomationServices } from './service.ts'
import { sourceRoutes } from './sources/routes.ts'
import { automationFailures } from './validation.ts'
import { ignoredOfMessage } from '../messages/service.ts'
import { listOf, listQuery, pageOf, pageReply } from '../../platform/http/paging.ts'
import { storingReply, reply, type Route, route } from '../../platform/http/route.ts'

export const moduleRoutes = ({ sources, automations, events, ingest }: AutomationServices): Route[] => [
  ...sourceRoutes(sources),
  ...eventRoutes(events),
  ...ingestRoutes(ingest),
  ...automationRoutes(automations),
  ...runRoutes,
]

const tag = 'Automations'
const Deleted = deletedOf('automation')
const messageErrors = ['unsupported_message_type', 'template_not_approved', 'upstream_unavailable'] as const

const createAutomationRoute = (automations: AutomationService): Route =>
  route({
    operation: 'automations.create',
    method: 'POST',
    path: '/v1/automations',
    scope: 'integrations:write',
    tag,
    summary: 'Create an automation',
    description:
      'Sends its message for each new event of its source and type that meets the conditions. On a live `whatsapp` channel the message must be an approved template, which is looked up at the provider.',
    body: AutomationCreation,
    example_body: {
      name: 'Your order is on its way',
      source_id: 'src_01m7z10y8texgrjk0p9bvk2cq6',
      event_type: 'order.shipped',
      conditions: { match: 'all', conditions: [{ field: 'data.order.total', operator: 'greater_than', value: 50 }] },
      channel_id: 'ch_test_whatsapp',
      message: {
        type: 'text',
        text: { body: 'Hello {{first_name}}, your order {{data.order.number}} is on its way.' },
      },
      merge_fallbacks: { first_name: 'friend' },
    },
    inspect: automationFailures,
    ignored_within: ignoredOfMessage,
    idempotent: 'lease',
    replies: { 201: Automation },
    errors: ['resource_missing', 'automation_limit_reached', ...messageErrors],
    handler: async ({ caller, body, sql, keep }) =>
      reply(201, await automations.create(sql, caller, body, storingReply(keep, 201))),
  })

const listAutomationsRoute = (automations: AutomationService): Route =>
  route({
    operation: 'automations.list',
    method: 'GET',
    path: '/v1/automations',
    scope: 'integrations:read',
    tag,
    summary: 'List automations',
    description: 'Newest first, paused ones too.',
    query: listQuery({
      source: Type.Optional(Type.String({ minLength: 1, description: 'Of this integration source (`src_`).' })),
      event_type: Type.Optional(Type.String({ minLength: 1, description: 'That wait for this type of event.' })),
      status: Type.Optional(Type.String({ enum: [...automationStatuses], description: 'With this status now.' })),
    }),
    replies: { 200: listOf(Automation) },
    errors: [],
    handler: async ({ caller, query, sql }) => {
      const page = pageOf(query)
      const filters = {
        source: query.source,
        event_type: query.event_type,
        status: query.status as AutomationStatus | undefined,
      }
      return reply(200, pageReply(await automations.list(sql, caller, filters, page), page.limit))
    },
  })

const retrieveAutomationRoute = (automations: AutomationService): Route =>
  route({
    operation: 'automations.retrieve',
    method: 'GET',
    path: '/v1/automations/{id}',
    scope: 'integrations:read',
    tag,
    summary: 'Retrieve an automation',
    description: 'Which event it waits for, under which conditions, and what it sends.',
    replies: { 200: Automation },
    errors: ['resource_missing'],
    handler: async ({ caller, params, sql }) => reply(200, await automations.get(sql, caller, params['id']!)),
  })

const updateAutomationRoute = (automations: AutomationService): Route =>
  route({
    operation: 'automations.update',
    method: 'PATCH',
    path: '/v1/automations/{id}',
    scope: 'integrations:write',
    tag,
    summary: 'Update an automation',
    description:
      'Absent fields stay; objects and arrays are replaced whole. Waiting runs keep their time and are sent with the changed message. Pausing, another `event_type` or a channel of another type cancels them. ' +
      'Pausing or renaming does not validate the automation again.',
    body: AutomationUpdate,
    inspect: automationFailures,
    ignored_within: ignoredOfMessage,
    replies: { 200: Automation },
    errors: ['resource_missing', 'parameter_missing', ...messageErrors],
    handler: async ({ caller, params, body, sql }) =>
      reply(200, await automations.update(sql, caller, params['id']!, body)),
  })

const deleteAutomationRoute = (automations: AutomationService): Route =>
  route({
    operation: 'automations.delete',
    method: 'DELETE',
    path: '/v1/automations/{id}',
    scope: 'integrations:write',
    tag,
    summary: 'Delete an automation',
    description: 'Cancels waiting runs. Finished runs and sent messages remain.',
    replies: { 200: Deleted },
    errors: ['resource_missing'],
    handler: async ({ caller, params, sql }) => {
      await automations.remove(sql, caller, params['id']!)
      return reply(200, { id: params['id'], object: 'automation', deleted: true })
    },
  })

const simulateAutomationRoute = (automations: AutomationService): Route =>
  route({
    operation: 'automations.simulate',
    method: 'POST',
    path: '/v1/automations/{id}/simulate',
    scope: 'integrations:read',
    tag,
    summary: 'Simulate an automation',
    description:
      'Predicts the result for an event reported now: each condition, the message, and when it would be sent. A paused one is simulated as if it were active. Nothing is stored or sent. ' +
      'A receipt of another source, or of another type of event, is `skipped`, `no_automation`.',
    body: AutomationSimulationRequest,
    // as for real events
    body_bytes_max: automationEventLimits.body_bytes,
    ignored_within: ({ event }) =>
      typeof event === 'object' && event !== null
        ? Object.keys(event)
            .filter((field) => !(field in SimulatedEvent.properties))
            .map((field) => `event.${field}`)
        : [],
    idempotent: 'lease',
    replies: { 200: AutomationSimulation },
    errors: ['resource_missing', 'parameter_missing'],
    handler: async ({ caller, params, body, sql }) =>
      reply(200, await automations.simulate(sql, caller, params['id']!, body)),
  })

const automationRoutes = (automations: AutomationService): Route[] => [
  createAutomationRoute(automations),
  listAutomationsRoute(automations),
  retrieveAutomationRoute(automations),
  updateAutomationRoute(automations),
  deleteAutomationRoute(automations),
  simulateAutomationRoute(automations),
]

const runRoutes: readonly Route[] = [
  route({
    operation: 'automation_runs.list',
    method: 'GET',
    path: '/v1/automation_runs',
    scope: 'integrations:read',
    tag,
    summary: 'List automation runs',
    description: 'Newest first: the result of each automation for each event, with the reason if nothing was sent.',
    expensive: {
      // each index covers only one of the two filters
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
      'Its result: `message_id` is the message, whose status shows the rest; `reason` explains why there is none.',
    replies: { 200: AutomationRun },
    errors: ['resource_missing'],
    handler: async ({ caller, params, sql }) => reply(200, await getRun(sql, caller, params['id']!)),
  }),
]
