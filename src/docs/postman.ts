/**
 * Derives the Postman collection (https://schema.postman.com/collection/json/v2.1.0/draft-07/docs/index.html) from the
 * routes.
 */
import type { Route } from '../platform/http/route.ts'
import { pathParameters, requestExample } from './openapi.ts'

type Json = Record<string, unknown>

/** `base_url` and `api_key` become variables of the collection. */
export function postmanCollection(routes: readonly Route[], base_url: string): Json {
  return {
    info: {
      name: 'Posthorn',
      description: `Set the variable \`api_key\` to a test key (svc_test_…): nothing is delivered or billed with it. The reference is at ${base_url}/docs.`,
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: bearer('api_key'),
    variable: [
      { key: 'base_url', value: base_url, type: 'string' },
      { key: 'api_key', value: '', type: 'string' },
      { key: 'source_key', value: '', type: 'string' },
    ],
    item: [...Map.groupBy(routes, ({ tag }) => tag)].map(([tag, own]) => ({ name: tag, item: own.map(item) })),
  }
}

const bearer = (variable: string): Json => ({
  type: 'bearer',
  bearer: [{ key: 'token', value: `{{${variable}}}`, type: 'string' }],
})

function item(route: Route): Json {
  return {
    name: route.summary,
    request: {
      method: route.method,
      ...(route.source_key === true ? { auth: bearer('source_key') } : {}),
      ...(route.signedHandler === undefined ? {} : { auth: { type: 'noauth' } }),
      header: headersOf(route),
      url: urlOf(route),
      ...bodyOf(route),
      description: [
        `${route.operation}.`,
        route.description,
        route.scope === null ? undefined : `Needs the scope \`${route.scope}\`.`,
      ]
        .filter((text) => text !== undefined)
        .join(' '),
    },
    response: [],
  }
}

function headersOf({ method, signedHandler, uploads, body }: Route): Json[] {
  const type = Object.keys(uploads ?? {})[0] ?? (body === undefined ? undefined : 'application/json')
  return [
    ...(type === undefined ? [] : [{ key: 'Content-Type', value: type }]),
    ...(method === 'POST' && signedHandler === undefined
      ? [
          {
            key: 'Idempotency-Key',
            value: '{{$guid}}',
            description: 'Makes the request safe to repeat for 24 hours.',
            disabled: true,
          },
        ]
      : []),
  ]
}

function urlOf({ path, query, example_query }: Route): Json {
  const segments = path.slice(1).split('/')
  const exampleQuery = new URLSearchParams(example_query)
  const parameters = Object.entries(query?.properties ?? {}).map(([key, schema]) => ({
    key,
    value: exampleQuery.get(key) ?? '',
    description: (schema as { description?: string }).description ?? '',
    disabled: !exampleQuery.has(key),
  }))
  // an empty one would request the list
  const variables = pathParameters({ path }).map(({ name, description, example }) => ({
    key: name,
    value: example,
    description,
  }))
  const named = segments.map((segment) => segment.replace(/^\{(\w+)\}$/, ':$1'))
  const queryText = example_query === undefined ? '' : `?${example_query}`
  return {
    raw: `{{base_url}}/${named.join('/')}${queryText}`,
    host: ['{{base_url}}'],
    path: named,
    ...(parameters.length === 0 ? {} : { query: parameters }),
    ...(variables.length === 0 ? {} : { variable: variables }),
  }
}

function bodyOf(route: Route): Json {
  if (route.uploads !== undefined) return { body: { mode: 'file', file: {} } }
  if (route.body === undefined) return {}
  return {
    body: { mode: 'raw', raw: JSON.stringify(requestExample(route), null, 2), options: { raw: { language: 'json' } } },
  }
}
