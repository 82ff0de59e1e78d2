/** Routes of campaigns (behaviour: campaigns 1, 2). */
import { Type } from 'typebox'
import {
  Campaign,
  CampaignCreation,
  CampaignDeleted,
  CampaignDuplication,
  CampaignLaunch,
  CampaignRecipient,
  CampaignRehearsal,
  type CampaignStatus,
  campaignStatuses,
  CampaignTest,
  CampaignUpdate,
  type RecipientStatus,
  recipientStatuses,
} from '../../api/resources/campaign.ts'
import { limits } from '../../api/limits.ts'
import { Message } from '../../api/resources/message.ts'
import { campaignFailures } from './drafts.ts'
import type { RecipientFilters } from './recipient-repository.ts'
import type { CampaignService } from './service.ts'
import { acceptedObject, ignoredOfMessage, messageObject, sendErrors } from '../messages/service.ts'
import { canonicalFingerprint, replayedHeaders } from '../../platform/http/idempotency.ts'
import { listOf, listQuery, pageOf, pageReply } from '../../platform/http/paging.ts'
import { storingReply, reply, route, type Route } from '../../platform/http/route.ts'

const tag = 'Campaigns'

const attachment = (filename: string) => ({ 'content-disposition': `attachment; filename="${filename}"` })

/** An unescaped plus sign arrives as a space, and phone numbers begin with one. */
const filtersOf = ({ status, to }: { status?: string; to?: string }): RecipientFilters => ({
  status: status as RecipientStatus | undefined,
  to: to?.replace(/^ /, '+'),
})

const launchErrors = [
  'consent_required',
  'channel_not_connected',
  'template_not_approved',
  'campaign_limit_exceeded',
  'insufficient_balance',
  'upstream_unavailable',
] as const

const createCampaignRoute = (campaigns: CampaignService): Route =>
  route({
    operation: 'campaigns.create',
    method: 'POST',
    path: '/v1/campaigns',
    scope: 'campaigns:write',
    tag,
    summary: 'Create a campaign',
    description:
      'A draft, unless `launch` is true. A live `whatsapp` campaign must send an approved template, which is looked up at the provider.',
    body: CampaignCreation,
    body_members_max: limits.audience_body_members_max,
    example_body: {
      name: 'Spring sale',
      channel: 'ch_test_whatsapp',
      audience: { type: 'adhoc', recipients: [{ to: '+4915112345678', first_name: 'Ada' }] },
      message: { type: 'text', text: { body: 'Hello {{first_name}}, our spring sale has begun.' } },
      merge_fallbacks: { first_name: 'friend' },
      schedule: { timezone: 'Europe/Vienna', send_window: { start: '09:00', end: '20:00' } },
    },
    inspect: campaignFailures,
    ignored_within: ignoredOfMessage,
    idempotent: 'lease',
    replies: { 201: Campaign },
    errors: ['resource_missing', 'unsupported_message_type', ...launchErrors],
    handler: async ({ caller, body, sql, keep }) =>
      reply(201, await campaigns.create(sql, caller, body, storingReply(keep, 201))),
  })

const listCampaignsRoute = (campaigns: CampaignService): Route =>
  route({
    operation: 'campaigns.list',
    method: 'GET',
    path: '/v1/campaigns',
    scope: 'campaigns:read',
    tag,
    summary: 'List campaigns',
    description: 'Newest first. Recipients of ad-hoc audiences are left out; `recipients_count` is their number.',
    query: listQuery({
      status: Type.Optional(Type.String({ enum: [...campaignStatuses], description: 'With this status now.' })),
    }),
    replies: { 200: listOf(Campaign) },
    errors: [],
    handler: async ({ caller, query, sql }) => {
      const page = pageOf(query)
      return reply(
        200,
        pageReply(await campaigns.list(sql, caller, query.status as CampaignStatus | undefined, page), page.limit),
      )
    },
  })

const retrieveCampaignRoute = (campaigns: CampaignService): Route =>
  route({
    operation: 'campaigns.retrieve',
    method: 'GET',
    path: '/v1/campaigns/{id}',
    scope: 'campaigns:read',
    tag,
    summary: 'Retrieve a campaign',
    description: 'With its counters and cost so far, and an ad-hoc audience with its recipients.',
    replies: { 200: Campaign },
    errors: ['resource_missing'],
    handler: async ({ caller, params, sql }) => reply(200, await campaigns.get(sql, caller, params['id']!)),
  })

const updateCampaignRoute = (campaigns: CampaignService): Route =>
  route({
    operation: 'campaigns.update',
    method: 'PATCH',
    path: '/v1/campaigns/{id}',
    scope: 'campaigns:write',
    tag,
    summary: 'Update a draft',
    description:
      'Absent fields stay; objects are replaced whole. The draft is checked as a whole: replace a deleted list, segment or channel in the same request.',
    body: CampaignUpdate,
    body_members_max: limits.audience_body_members_max,
    inspect: campaignFailures,
    ignored_within: ignoredOfMessage,
    replies: { 200: Campaign },
    errors: [
      'resource_missing',
      'parameter_missing',
      'campaign_state_invalid',
      'unsupported_message_type',
      'template_not_approved',
      'upstream_unavailable',
    ],
    handler: async ({ caller, params, body, sql }) =>
      reply(200, await campaigns.update(sql, caller, params['id']!, body)),
  })

const deleteCampaignRoute = (campaigns: CampaignService): Route =>
  route({
    operation: 'campaigns.delete',
    method: 'DELETE',
    path: '/v1/campaigns/{id}',
    scope: 'campaigns:write',
    tag,
    summary: 'Delete a draft',
    description: 'Drafts alone are deleted; a campaign of another status is 409 `campaign_state_invalid`.',
    replies: { 200: CampaignDeleted },
    errors: ['resource_missing', 'campaign_state_invalid'],
    handler: async ({ caller, params, sql }) => {
      await campaigns.remove(sql, caller, params['id']!)
      return reply(200, { id: params['id']!, object: 'campaign', deleted: true })
    },
  })

const listCampaignRecipientsRoute = (campaigns: CampaignService): Route =>
  route({
    operation: 'campaigns.list_recipients',
    method: 'GET',
    path: '/v1/campaigns/{id}/recipients',
    scope: 'campaigns:read',
    tag,
    summary: 'List the recipients of a campaign',
    description:
      'In the order of the snapshot; none before it is complete. With `Accept: text/csv` all that fit `status` and `to` are streamed as CSV; `limit` and `starting_after` have no effect then. ' +
      'Cells that a spreadsheet would run as a formula start with an apostrophe; E.164 phone numbers do not.',
    query: listQuery({
      status: Type.Optional(Type.String({ enum: [...recipientStatuses], description: 'With this status now.' })),
      to: Type.Optional(Type.String({ minLength: 1, description: 'The exact identifier.' })),
    }),
    replies: { 200: listOf(CampaignRecipient) },
    errors: ['resource_missing'],
    handler: async ({ caller, params, query, sql }) => {
      const page = pageOf(query)
      return reply(
        200,
        pageReply(await campaigns.recipients(sql, caller, params['id']!, filtersOf(query), page), page.limit),
      )
    },
    csv: async ({ caller, params, query, signal }) => {
      const id = params['id']!
      return reply(
        200,
        await campaigns.recipientsCsv(caller, id, filtersOf(query), signal),
        attachment(`${id}-recipients.csv`),
      )
    },
  })

const launchCampaignRoute = (campaigns: CampaignService): Route =>
  route({
    operation: 'campaigns.launch',
    method: 'POST',
    path: '/v1/campaigns/{id}/launch',
    scope: 'campaigns:write',
    tag,
    summary: 'Launch a campaign',
    description:
      'Checked in this order: status, consent, channel, template, size, funds. Each message is charged when it is sent.',
    body: CampaignLaunch,
    idempotent: 'lease',
    replies: { 200: Campaign },
    errors: ['resource_missing', 'campaign_state_invalid', ...launchErrors],
    handler: async ({ caller, params, body, sql, keep }) =>
      reply(200, await campaigns.launch(sql, caller, params['id']!, body, storingReply(keep, 200))),
  })

const rehearseCampaignRoute = (campaigns: CampaignService): Route =>
  route({
    operation: 'campaigns.rehearse',
    method: 'POST',
    path: '/v1/campaigns/{id}/rehearse',
    scope: 'campaigns:read',
    tag,
    summary: 'Rehearse a campaign',
    description:
      'Predicts a launch, or the rest of a running campaign: recipients, cost, start and end, and every check of a launch. Nothing is stored, sent or charged. ' +
      'With `Accept: text/csv` each recipient is streamed with its outcome.',
    idempotent: 'lease',
    replies: { 200: CampaignRehearsal },
    errors: ['resource_missing', 'campaign_state_invalid'],
    handler: async ({ caller, params, signal }) => reply(200, await campaigns.rehearse(caller, params['id']!, signal)),
    csv: async ({ caller, params, signal }) => {
      const id = params['id']!
      return reply(200, await campaigns.rehearsalCsv(caller, id, signal), attachment(`${id}-rehearsal.csv`))
    },
  })

const testCampaignRoute = (campaigns: CampaignService): Route =>
  route({
    operation: 'campaigns.test',
    method: 'POST',
    path: '/v1/campaigns/{id}/test',
    scope: 'campaigns:write',
    tag,
    summary: 'Send a campaign to yourself',
    description:
      'Sends its message to one address as an ordinary API message, which is charged. Merge tags have the values of the first ad-hoc recipient and of the contact at that address.',
    body: CampaignTest,
    known_fields: [],
    idempotent: 'own',
    replies: { 202: Message },
    errors: [...sendErrors, 'resource_missing'],
    async handler({ caller, params, body, sql, idempotency_key }) {
      const id = params['id']!
      const operation = `POST /v1/campaigns/${encodeURIComponent(id.toWellFormed())}/test`
      const request =
        idempotency_key === undefined
          ? undefined
          : { operation, key: idempotency_key, fingerprint: canonicalFingerprint(body) }
      const { row, replayed } = await campaigns.test(sql, caller, id, body.to, request)
      return replayed ? reply(202, acceptedObject(row), replayedHeaders) : reply(202, messageObject(row))
    },
  })

const duplicateCampaignRoute = (campaigns: CampaignService): Route =>
  route({
    operation: 'campaigns.duplicate',
    method: 'POST',
    path: '/v1/campaigns/{id}/duplicate',
    scope: 'campaigns:write',
    tag,
    summary: 'Duplicate a campaign',
    description:
      'Creates a draft with the same fields, without `send_at` and declared consent. With `recipients` = `failed` its audience is the failed recipients (409 if there are none).',
    body: CampaignDuplication,
    idempotent: 'lease',
    replies: { 201: Campaign },
    errors: [
      'resource_missing',
      'campaign_state_invalid',
      'unsupported_message_type',
      'template_not_approved',
      'campaign_limit_exceeded',
      'upstream_unavailable',
    ],
    handler: async ({ caller, params, body, sql, keep }) =>
      reply(201, await campaigns.duplicate(sql, caller, params['id']!, body, storingReply(keep, 201))),
  })

const statusRoute = (campaigns: CampaignService, action: 'pause' | 'resume' | 'cancel'): Route =>
  route({
    operation: `campaigns.${action}`,
    method: 'POST',
    path: `/v1/campaigns/{id}/${action}`,
    scope: 'campaigns:write',
    tag,
    summary: `${action[0]!.toUpperCase()}${action.slice(1)} a campaign`,
    description: descriptions[action],
    // an Idempotency-Key written first would precede the lock of the campaign, and a cancellation spans many transactions
    idempotent: 'lease',
    replies: { 200: Campaign },
    errors: [
      'resource_missing',
      'campaign_state_invalid',
      ...(action === 'resume' ? (['insufficient_balance'] as const) : []),
    ],
    handler: async ({ caller, params, sql, keep }) =>
      reply(200, await campaigns[action](sql, caller, params['id']!, storingReply(keep, 200))),
  })

const descriptions = {
  pause: 'Messages that were accepted already are still sent.',
  resume: 'Continues where it stopped. A live campaign needs funds for at least one message.',
  cancel: 'Cancels recipients who were not sent to. Sent messages are not recalled and stay charged.',
} as const

export const campaignRoutes = (campaigns: CampaignService): Route[] => [
  createCampaignRoute(campaigns),
  listCampaignsRoute(campaigns),
  retrieveCampaignRoute(campaigns),
  updateCampaignRoute(campaigns),
  deleteCampaignRoute(campaigns),
  listCampaignRecipientsRoute(campaigns),
  launchCampaignRoute(campaigns),
  rehearseCampaignRoute(campaigns),
  testCampaignRoute(campaigns),
  duplicateCampaignRoute(campaigns),
  statusRoute(campaigns, 'pause'),
  statusRoute(campaigns, 'resume'),
  statusRoute(campaigns, 'cancel'),
]
