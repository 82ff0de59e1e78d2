/** Routes of integration sources (behaviour: integrations 1). */
import { deletedOf } from '../../../api/resources/shared-fields.ts'
import {
  IntegrationSource,
  IntegrationSourceWithSecrets,
  OwnSourceChange,
  SourceChange,
  SourceUpsert,
  type IntegrationSource as Shown,
} from '../../../api/resources/integration-source.ts'
import { listOf, listQuery, pageOf, pageReply } from '../../../platform/http/paging.ts'
import { storingReply, reply, route, type Reply, type Route } from '../../../platform/http/route.ts'
import type { SourceService } from './service.ts'

const tag = 'Integration sources'
const Deleted = deletedOf('integration_source')

/** 304 if the caller has this version; `If-None-Match` accepts `7`, `"7"`, `W/"7"`, `*` and lists. */
function current(source: Shown, ifNoneMatch: string | undefined): Reply {
  const etag = `"${source.config_version}"`
  const etags = (ifNoneMatch ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, '').replaceAll('"', ''))
  return etags.includes('*') || etags.includes(String(source.config_version))
    ? reply(304, undefined, { etag })
    : reply(200, source, { etag })
}

const etagNote = 'The ETag is `config_version`; with `If-None-Match` an unchanged source is 304 without a body.'

export const sourceRoutes = (sources: SourceService): Route[] => [...ownRoutes(sources), ...managing(sources)]

const upsertIntegrationSourceRoute = (sources: SourceService): Route =>
  route({
    operation: 'integration_sources.upsert',
    method: 'POST',
    path: '/v1/integration_sources',
    scope: 'integrations:write',
    secret_reply: true,
    tag,
    summary: 'Create or update an integration source',
    description:
      'Upserts by `platform` and `external_id` within the mode of the key: 201 with `source_key` and `signing_secret`, shown only here, where the source is new; 200 without them where it existed. ' +
      'Replaces the fields of an existing source that are sent; a disabled source stays disabled.',
    body: SourceUpsert,
    replies: { 200: IntegrationSource, 201: IntegrationSourceWithSecrets },
    errors: ['integration_source_limit_reached'],
    handler: async ({ caller, body, sql }) => {
      const source = await sources.upsert(sql, caller, body)
      return reply('source_key' in source ? 201 : 200, source)
    },
  })

const listIntegrationSourcesRoute = (sources: SourceService): Route =>
  route({
    operation: 'integration_sources.list',
    method: 'GET',
    path: '/v1/integration_sources',
    scope: 'integrations:read',
    tag,
    summary: 'List integration sources',
    description: 'Newest first. Keys and secrets are not shown again.',
    query: listQuery({}),
    replies: { 200: listOf(IntegrationSource) },
    errors: [],
    handler: async ({ caller, query, sql }) => {
      const page = pageOf(query)
      return reply(200, pageReply(await sources.list(sql, caller, page), page.limit))
    },
  })

const retrieveIntegrationSourceRoute = (sources: SourceService): Route =>
  route({
    operation: 'integration_sources.retrieve',
    method: 'GET',
    path: '/v1/integration_sources/{id}',
    scope: 'integrations:read',
    tag,
    summary: 'Retrieve an integration source',
    description: etagNote,
    etag: true,
    replies: { 200: IntegrationSource, 304: '' },
    errors: ['resource_missing'],
    handler: async ({ caller, params, sql, raw }) =>
      current(await sources.get(sql, caller, params['id']!), raw.headers['if-none-match']),
  })

const updateIntegrationSourceRoute = (sources: SourceService): Route =>
  route({
    operation: 'integration_sources.update',
    method: 'PATCH',
    path: '/v1/integration_sources/{id}',
    scope: 'integrations:write',
    tag,
    summary: 'Update an integration source',
    description:
      'Only what is sent changes; `emits` is replaced whole. `status` `disabled` refuses the source key and native webhooks (403 `source_disabled`) and cancels waiting runs. Set it to `active` to accept events again.',
    body: SourceChange,
    replies: { 200: IntegrationSource },
    errors: ['resource_missing'],
    handler: async ({ caller, params, body, sql }) =>
      reply(200, await sources.update(sql, caller, params['id']!, body)),
  })

const deleteIntegrationSourceRoute = (sources: SourceService): Route =>
  route({
    operation: 'integration_sources.delete',
    method: 'DELETE',
    path: '/v1/integration_sources/{id}',
    scope: 'integrations:write',
    tag,
    summary: 'Delete an integration source',
    description:
      'Its automations and receipts go with it, scheduled runs are cancelled, and its key stops at once. Messages that were sent stay.',
    replies: { 200: Deleted },
    errors: ['resource_missing'],
    handler: async ({ caller, params, sql }) => {
      await sources.remove(sql, caller, params['id']!)
      return reply(200, { id: params['id'], object: 'integration_source', deleted: true })
    },
  })

const rollIntegrationSourceKeyRoute = (sources: SourceService): Route =>
  route({
    operation: 'integration_sources.roll_key',
    method: 'POST',
    path: '/v1/integration_sources/{id}/roll_key',
    scope: 'integrations:write',
    // the caches of the old key are emptied after the commit
    idempotent: 'lease',
    secret_reply: true,
    tag,
    summary: 'Roll the source key and the signing secret',
    description: 'Answers the source with a new `source_key` and `signing_secret`. The old ones stop at once.',
    replies: { 200: IntegrationSourceWithSecrets },
    errors: ['resource_missing'],
    handler: async ({ caller, params, sql, keep }) =>
      reply(200, await sources.rollKey(sql, caller, params['id']!, storingReply(keep, 200))),
  })

const managing = (sources: SourceService): Route[] => [
  upsertIntegrationSourceRoute(sources),
  listIntegrationSourcesRoute(sources),
  retrieveIntegrationSourceRoute(sources),
  updateIntegrationSourceRoute(sources),
  deleteIntegrationSourceRoute(sources),
  rollIntegrationSourceKeyRoute(sources),
]

/** Routes for plugins, with the key of their source. */
const ownRoutes = (sources: SourceService): Route[] => [
  route({
    operation: 'integration_sources.retrieve_current',
    method: 'GET',
    path: '/v1/integration_sources/current',
    scope: null,
    source_key: true,
    tag,
    summary: 'Retrieve the source of a source key',
    description: `For plugins: what to report and how. ${etagNote} Ask at most once every five minutes.`,
    etag: true,
    replies: { 200: IntegrationSource, 304: '' },
    errors: ['source_disabled', 'scope_missing'],
    handler: async ({ caller, sql, raw }) =>
      current(await sources.get(sql, caller, caller.key_id!), raw.headers['if-none-match']),
  }),
  route({
    operation: 'integration_sources.update_current',
    method: 'PATCH',
    path: '/v1/integration_sources/current',
    scope: null,
    source_key: true,
    tag,
    summary: 'Update the source of a source key',
    description:
      'Only what is sent changes; `emits` is replaced whole. Status and secrets cannot be changed with this key.',
    body: OwnSourceChange,
    replies: { 200: IntegrationSource },
    errors: ['source_disabled', 'scope_missing'],
    handler: async ({ caller, body, sql }) => reply(200, await sources.update(sql, caller, caller.key_id!, body)),
  }),
]
