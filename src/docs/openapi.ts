/** Derives the OpenAPI 3.1 document from the routes and catalogues. */
import type { TSchema } from 'typebox'
import { errorType, type ErrorCode } from '../api/errors.ts'
import { errorEntry, type ProblemCode } from '../api/problem.ts'
import { idPrefixes } from '../api/ids.ts'
import { limits } from '../api/limits.ts'
import { ApiError } from '../api/resources/api-error.ts'
import type { Route } from '../platform/http/route.ts'
import { Components, type Json } from './components.ts'
import { propertyExample } from './property-examples.ts'
import { exampleId, sample } from './samples.ts'
import { eventsTag, webhookOperations } from './webhook-operations.ts'

/** (behaviour: operating 1.2) */
const version = '1.0.0'

const intro = `Send messages on several channels through one API, and hear back through signed webhooks.

Every request carries \`Authorization: Bearer <API_KEY>\`. Keys that begin with \`svc_live_\` deliver and bill; keys that begin with \`svc_test_\` use the sandbox. \
A key sees the objects of its own account and mode alone.

Every response carries \`X-Request-Id\`. Responses to accepted keys carry \`RateLimit-Limit\`, \`RateLimit-Remaining\` and \`RateLimit-Reset\`. \
An unknown query parameter is refused; an unknown field of a body is ignored and named in \`Service-Ignored-Fields\`. \
A whole number that a JSON number cannot keep to the last digit (beyond 2^53) is refused, in \`metadata\` too: send it as a string. \
Repeat a POST safely by sending the same \`Idempotency-Key\` (up to ${limits.idempotency_key_length_max} characters, kept for 24 hours): the answer is then replayed with \`Idempotent-Replayed: true\`.

Lists are newest first: \`limit\` (1 to ${limits.page_max}, default ${limits.page_default}) and \`starting_after\` (the \`next_cursor\` of the page before). \
To poll with \`updated_after\`, go back a few seconds before the last request: changes become visible when they are committed, and what comes twice has the same id.`

/** The parts of a document that depend on how its routes authenticate: by key or by session. */
export interface Entrance {
  codesOf(route: Route): ProblemCode[]
  statusOf(route: Route, code: ProblemCode): number
  /** Whether the route honours an Idempotency-Key. */
  takesKey(route: Route): boolean
}

const byKey: Entrance = {
  codesOf,
  statusOf: (_route, code) => errorEntry(code).status,
  takesKey: (route) => route.method === 'POST' && route.signedHandler === undefined,
}

export function openapiDocument(
  routes: readonly Route[],
  base_url: string,
  withWebhooks = true,
  entrance = byKey,
): Json {
  const components = new Components()
  const paths: Record<string, Json> = {}
  for (const route of routes)
    ((paths[route.path] ??= {}) as Json)[route.method.toLowerCase()] = operation(route, components, entrance)
  components.response(ApiError)
  const webhooks = withWebhooks ? webhookOperations(components) : {}
  return {
    openapi: '3.1.0',
    info: {
      title: 'Posthorn',
      version,
      description: intro,
      contact: { name: 'The operator of this service', url: `${base_url}/docs` },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: base_url }],
    security: [{ api_key: [] }],
    tags: [...new Set(routes.map((route) => route.tag)), eventsTag].map((name) => ({
      name,
      description: tagDescriptions[name] ?? name,
    })),
    paths,
    webhooks,
    components: {
      securitySchemes: {
        api_key: { type: 'http', scheme: 'bearer', description: 'An API key, such as svc_test_…' },
        source_key: {
          type: 'http',
          scheme: 'bearer',
          description: 'The key of an integration source, such as svc_src_…',
        },
      },
      headers: headerComponents,
      examples: Object.fromEntries(
        [...new Set(routes.flatMap((route) => entrance.codesOf(route)))]
          .toSorted()
          .map((code) => [code, { value: errorExample(code) }]),
      ),
      schemas: components.all(),
    },
  }
}

const tagDescriptions: Readonly<Record<string, string>> = {
  Account: 'The account behind a key.',
  Billing: 'The prepaid balance, prices, usage and every movement of money.',
  Channels: "The account's senders. Test mode has one sandbox channel of each type.",
  Contacts: 'People you write to, with their consent.',
  'Contact lists': 'Groups of contacts that you maintain yourself.',
  Segments: 'Groups of contacts that are described by rules.',
  'Contact imports': 'Contacts from CSV files, and back.',
  Messages: 'Send messages one by one or in batches, and follow their status.',
  'Webhook endpoints': 'Addresses that get events, their deliveries and secrets.',
  Events: 'The feed of events, for polling and catching up.',
  Campaigns: 'One message to many, on time, once each.',
  'Integration sources': 'Shops and sites that report events.',
  'Automation events': 'Events that shops and sites report, and their receipts.',
  Automations: 'Rules that send a message after an event, and their runs.',
  [eventsTag]: 'The events that webhook endpoints receive.',
}

function operation(route: Route, components: Components, entrance: Entrance): Json {
  return {
    operationId: route.operation,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    ...(route.source_key === true ? { security: [{ source_key: [] }] } : {}),
    ...(route.signedHandler === undefined ? {} : { security: [] }),
    'x-scopes': route.scope === null ? [] : [route.scope],
    ...(route.mode === undefined ? {} : { 'x-mode': route.mode }),
    parameters: [
      ...pathParameters(route),
      ...queryParameters(route, components),
      ...(entrance.takesKey(route) ? [idempotencyKey] : []),
      ...(route.etag === true ? [ifNoneMatch] : []),
    ],
    ...(route.body === undefined ? {} : { requestBody: requestBody(route, components) }),
    ...(route.uploads === undefined ? {} : { requestBody: uploadBody(route.uploads, components) }),
    responses: responses(route, components, entrance),
  }
}

const idempotencyKey: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Makes the request safe to repeat for 24 hours: repetitions get the first response.',
  schema: { type: 'string', minLength: 1, maxLength: limits.idempotency_key_length_max },
  example: 'order-1042-shipped',
}

const ifNoneMatch: Json = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'The `ETag` of an answer before: 304 without a body where nothing has changed since.',
  schema: { type: 'string' },
  example: '"7"',
}

type PathParameter = Json & { readonly name: string; readonly description: string; readonly example: string }

/** A parameter is named after the path segment before it. */
export function pathParameters(route: Pick<Route, 'path'>): PathParameter[] {
  return [...route.path.matchAll(/(?<=(\w+)\}?\/)\{(\w+)\}/g)].map(([, before, name]) => {
    if (name === 'platform')
      return {
        name: name!,
        in: 'path',
        required: true,
        description: 'The slug of the platform that sends it.',
        schema: { type: 'string' },
        example: 'shopify',
      }
    const object = namedIds[name!] ?? before!.replace(/s$/, '')
    const prefix = idPrefixes[object as keyof typeof idPrefixes]
    const description = `The id of the ${object.replaceAll('_', ' ')} (\`${prefix}_\`).`
    return {
      name: name!,
      in: 'path',
      required: true,
      description,
      schema: { type: 'string' },
      example: exampleId(prefix),
    }
  })
}

const namedIds: Readonly<Record<string, string>> = { delivery_id: 'webhook_delivery', source_id: 'integration_source' }

function queryParameters(route: Route, components: Components): Json[] {
  const required = (route.query as { required?: string[] } | undefined)?.required ?? []
  return Object.entries(route.query?.properties ?? {}).map(([name, schema]) => {
    const { description, ...rest } = schema as Json
    return {
      name,
      in: 'query',
      required: required.includes(name),
      description,
      schema: components.parameter(rest),
      example: propertyExample(name, schema as object),
    }
  })
}

function requestBody(route: Route, components: Components): Json {
  const required = ((route.body as { required?: string[] }).required ?? []).length > 0 && route.body_optional !== true
  return {
    required,
    content: { 'application/json': { schema: components.request(route.body!), example: requestExample(route) } },
  }
}

function uploadBody(uploads: NonNullable<Route['uploads']>, components: Components): Json {
  const content = Object.entries(uploads).map(([type, { schema, ...rest }]) => [
    type,
    { schema: components.parameter(schema), ...rest },
  ])
  return { required: true, content: Object.fromEntries(content) }
}

/** The route's own example, otherwise the smallest valid body. */
export function requestExample(route: Route): unknown {
  const { body, example_body } = route
  if (example_body !== undefined) return example_body
  if ((body as { examples?: unknown[] }).examples?.[0] !== undefined)
    return (body as { examples: unknown[] }).examples[0]
  const smallest = sample(body, '', true) as Json
  return Object.keys(smallest).length > 0 ? smallest : sample(body)
}

const always: readonly ErrorCode[] = [
  'api_key_missing',
  'api_key_invalid',
  'api_key_revoked',
  'api_key_expired',
  'ip_not_allowed',
  'account_suspended',
  'rate_limit_exceeded',
  'internal_error',
  'upstream_unavailable',
  'parameter_invalid',
]

/** Including those of every route. */
export function codesOf(route: Route): ErrorCode[] {
  if (route.signedHandler !== undefined)
    return byStatus(new Set<ErrorCode>(['internal_error', 'upstream_unavailable', ...route.errors]))
  const codes = new Set<ErrorCode>([...always, ...codesOfShape(route)])
  if (route.scope !== null) codes.add('scope_missing')
  if (route.method === 'POST') for (const code of keyCodes) codes.add(code)
  return byStatus(codes)
}

export const keyCodes = ['idempotency_key_in_use', 'idempotency_key_reused'] as const satisfies ErrorCode[]

/** Codes that follow from the route's options. */
export function codesOfShape(route: Route): Set<ErrorCode> {
  const codes = new Set<ErrorCode>(route.errors)
  if (route.mode !== undefined) codes.add(route.mode === 'live' ? 'live_mode_required' : 'test_mode_required')
  if (route.path.includes('{')) codes.add('resource_missing')
  if ((route.method === 'POST' || route.method === 'PATCH') && route.streamed !== true)
    for (const code of ['invalid_json', 'payload_too_large'] as const) codes.add(code)
  if (((route.body as { required?: string[] } | undefined)?.required ?? []).length > 0) codes.add('parameter_missing')
  return codes
}

export const byStatus = <C extends ProblemCode>(codes: ReadonlySet<C>): C[] =>
  [...codes].toSorted((a, b) => errorEntry(a).status - errorEntry(b).status || (a < b ? -1 : 1))

function responses(route: Route, components: Components, entrance: Entrance): Json {
  const answers: Json = {}
  for (const [status, schema] of Object.entries(route.replies))
    answers[status] = success(route, Number(status), schema, components, entrance)
  for (const [status, codes] of Object.entries(
    Object.groupBy(entrance.codesOf(route), (code) => entrance.statusOf(route, code)),
  )) {
    answers[status] ??= {
      description: codes!.map((code) => `\`${code}\`: ${errorEntry(code).title}`).join('\n\n'),
      headers: headers(Number(status), route, entrance),
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/ApiError' },
          examples: Object.fromEntries(codes!.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
        },
      },
      'x-codes': codes,
    }
  }
  return answers
}

function success(
  route: Route,
  status: number,
  schema: TSchema | string,
  components: Components,
  entrance: Entrance,
): Json {
  const described = { description: descriptions[status] ?? 'Done.', headers: headers(status, route, entrance) }
  if (schema === '' || status === 304) return described
  if (typeof schema === 'string')
    return { ...described, content: { [schema.split(';')[0]!]: { schema: { type: 'string' } } } }
  const json = { 'application/json': { schema: components.response(schema), example: sample(schema) } }
  return {
    ...described,
    content: route.csv === undefined ? json : { ...json, 'text/csv': { schema: { type: 'string' } } },
  }
}

const descriptions: Readonly<Record<number, string>> = {
  200: 'Done.',
  201: 'Created.',
  202: 'Accepted; what follows happens in the background.',
  207: 'Each item has its own status.',
  304: 'Not changed since.',
}

export const errorExample = (code: ProblemCode): Json => ({
  error: {
    type: errorType(errorEntry(code).status),
    code,
    message: `${errorEntry(code).title} ${errorEntry(code).fix}`,
    request_id: 'req_01m7z10y8texgrjk0p9bvk2cq6',
    doc_url: `https://example.com/docs/errors#${code}`,
  },
})

const headerComponents: Json = {
  'X-Request-Id': { description: 'Names this request.', required: true, schema: { type: 'string' } },
  'RateLimit-Limit': {
    description: 'Requests a second that the key may send to this operation.',
    schema: { type: 'integer' },
  },
  'RateLimit-Remaining': { description: 'Requests left in this second.', schema: { type: 'integer' } },
  'RateLimit-Reset': { description: 'Whole seconds until the count starts anew.', schema: { type: 'integer' } },
  'Retry-After': { description: 'Whole seconds to wait before the request is repeated.', schema: { type: 'integer' } },
  ETag: { description: 'Names this version, for `If-None-Match`.', schema: { type: 'string' } },
  'Idempotent-Replayed': { description: '`true` on a replayed response.', schema: { type: 'string' } },
  'Service-Ignored-Fields': {
    description: 'Fields of the body that the operation does not know.',
    schema: { type: 'string' },
  },
}

function headers(status: number, route: Route, entrance: Entrance): Json {
  const signed = route.signedHandler !== undefined
  const names = [
    'X-Request-Id',
    ...(status === 401 || signed ? [] : ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']),
  ]
  if (status === 429 || status === 503) names.push('Retry-After')
  if (route.etag === true && status < 400) names.push('ETag')
  if (signed) return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
  if (entrance.takesKey(route) && (status < 400 || [402, 404, 409, 422].includes(status)))
    names.push('Idempotent-Replayed')
  if (
    (route.method === 'POST' || route.method === 'PATCH') &&
    route.streamed !== true &&
    ![401, 413, 429].includes(status)
  )
    names.push('Service-Ignored-Fields')
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
