/** The reference that the service serves itself: `/docs`, `/docs/errors` and `/docs/openapi.json`, all from the routes and catalogues. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { errorCatalogue, errorType, type ErrorCode } from '../contract/errors.ts'
import { eventTypes } from '../contract/events.ts'
import { limits } from '../contract/limits.ts'
import { scopes } from '../contract/scopes.ts'
import { testRecipients } from '../features/channels/test-channels.ts'
import { contentPage, typeOfContent } from './content-page.ts'
import { codesOf, openapiDocument, requestExample } from './openapi.ts'
import { escape, inline, page, pageHeaders, prose } from './page.ts'
import type { Route } from '../platform/http/route.ts'
import { sample } from './samples.ts'

export function mountDocs(server: FastifyInstance, routes: readonly Route[], base_url: string): void {
  // made at the first request: most processes are never asked
  const pages = new Map<string, Buffer>()
  const serve = (path: string, type: string, make: () => string) =>
    server.get(path, { exposeHeadRoute: true }, (_request, reply: FastifyReply) => {
      const text = pages.get(path) ?? Buffer.from(make())
      pages.set(path, text)
      return reply.headers(pageHeaders).type(type).send(text)
    })
  serve('/docs', 'text/html; charset=utf-8', () => referencePage(routes, base_url))
  serve('/docs/errors', 'text/html; charset=utf-8', errorsPage)
  serve('/docs/content', 'text/html; charset=utf-8', contentPage)
  serve('/docs/openapi.json', 'application/json; charset=utf-8', () => JSON.stringify(openapiDocument(routes, base_url)))
  server.get('/', { exposeHeadRoute: true }, (_request, reply) => reply.redirect('/docs'))
}

const topics = [
  ['authentication', 'Authentication'],
  ['requests', 'Requests'],
  ['errors', 'Errors'],
  ['idempotency', 'Idempotency'],
  ['lists', 'Lists'],
  ['limits', 'Limits'],
  ['test-mode', 'Test mode'],
  ['events', 'Events'],
] as const

function referencePage(routes: readonly Route[], base_url: string): string {
  const groups = Map.groupBy(routes, (route) => route.tag)
  const nav = [
    `<div class="short"><h2>Start</h2><ul>${topics.map(([id, title]) => `<li><a href="#${id}">${title}</a></li>`).join('')}<li><a href="/docs/behaviour">What Posthorn does</a></li><li><a href="/docs/content">Message content</a></li><li><a href="/docs/providers">Providers</a></li><li><a href="/docs/errors">Every error code</a></li><li><a href="/docs/threat-model">Threat model</a></li><li><a href="/docs/openapi.json">OpenAPI 3.1</a></li></ul></div>`,
    ...[...groups].map(
      ([tag, rows]) => `<h2>${escape(tag)}</h2><ul>${rows.map((route) => `<li><a href="#${anchor(route)}">${escape(route.summary)}</a></li>`).join('')}</ul>`,
    ),
  ].join('')
  const main = `<h1>Posthorn reference</h1>${prose('Send messages on several channels through one API, and hear back through signed webhooks. Send one now; nothing is delivered or billed with a test key:')}
<pre><code>${escape(firstCall(base_url))}</code></pre>${guide()}${[...groups].map(([tag, rows]) => `<h2 id="operations-${slug(tag)}">${escape(tag)}</h2>${rows.map((route) => operation(route, base_url)).join('')}`).join('')}`
  return page('Posthorn reference', nav, main)
}

const firstCall = (base_url: string): string => `curl ${base_url}/v1/messages \\
  -H 'Authorization: Bearer svc_test_…' \\
  -H 'Content-Type: application/json' \\
  -d '{"channel":"ch_test_whatsapp","to":"+15005550006","type":"text","text":{"body":"Hello"}}'`

const slug = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
const anchor = (route: Route): string => `${route.method.toLowerCase()}${route.path.replaceAll(/[^A-Za-z0-9]+/g, '-')}`.replace(/-$/, '')

function guide(): string {
  return `<h2 id="authentication">Authentication</h2>${prose(`Send \`Authorization: Bearer <API_KEY>\` with every request. A key that begins with \`svc_live_\` delivers and bills, one that begins with \`svc_test_\` uses the sandbox; each sees the objects of its own mode alone. A key may have an expiry, a list of addresses from which it may be used, and these scopes:`)}<p>${scopes.map((scope) => `<code>${scope}</code>`).join(' ')}</p>
<h2 id="requests">Requests</h2>${prose('Bodies are JSON objects in UTF-8 with `Content-Type: application/json`, at most 1 MB. An unknown query parameter is refused; an unknown field of a body is ignored and named in the response header `Service-Ignored-Fields`.\n\nEvery response carries `X-Request-Id`: name it when you ask for help.')}
<h2 id="errors">Errors</h2>${prose('Every response other than 2xx and 304 has one `error` object. Branch on `code`, never on `message`; treat a code that you do not know as its `type`. `details` lists every failure of a validation round. Repeat 429 and 5xx with backoff and the same Idempotency-Key; repeat no other 4xx but `idempotency_key_in_use` unchanged.')}<p><a href="/docs/errors">Every code, and what to do about it</a></p>
<h2 id="idempotency">Idempotency</h2>${prose(`Every POST takes the header \`Idempotency-Key\` (up to ${limits.idempotency_key_length_max} characters). For 24 hours the same key with the same body answers what was answered first, with \`Idempotent-Replayed: true\`; with another body it is 409 \`idempotency_key_reused\`. Refusals that say nothing about the operation itself (400, 401, 403, 413, 429, 5xx) leave the key free.`)}
<h2 id="lists">Lists</h2>${prose(`Lists are newest first: \`limit\` (1 to ${limits.page_max}, default ${limits.page_default}) and \`starting_after\`, the \`next_cursor\` of the page before. Times in filters are exclusive, and may be any RFC 3339 time, a date, or a time without zone (UTC). To poll with \`updated_after\`, go back a few seconds before your last request, and tell what comes twice by its id.`)}
<h2 id="limits">Limits</h2>${prose('100 requests a second and key on `POST /v1/messages`, 20 on every other operation, unless the operator chose otherwise. `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset` say where you stand; a 429 adds `Retry-After`.')}
<h2 id="test-mode">Test mode</h2>${prose('A test key has one sandbox channel per channel type, named `ch_test_<type>`. These recipients have a fixed outcome:')}<div class="scroll"><table><thead><tr><th>to</th><th>outcome</th></tr></thead><tbody>${testRecipients.map(([to, outcome]) => `<tr><td><code>${escape(to)}</code></td><td>${escape(outcome)}</td></tr>`).join('')}</tbody></table></div>
<h2 id="events">Events</h2>${prose('Webhook endpoints get these events, signed, at least once and perhaps out of order: tell repeats by the event id. `GET /v1/events` is the same feed for polling.')}<div class="scroll"><table><thead><tr><th>type</th><th>sent when</th></tr></thead><tbody>${Object.entries(
    eventTypes,
  )
    .map(([type, { when }]) => `<tr><td><code>${type}</code></td><td>${escape(when)}</td></tr>`)
    .join('')}</tbody></table></div>`
}

function operation(route: Route, base_url: string): string {
  const scope =
    route.take !== undefined
      ? 'Needs no key: a signature made with the signing secret of the source stands in for it.'
      : route.source_key === true
        ? 'Needs the key of an integration source.'
        : route.scope === null
          ? 'Every accepted key may call it.'
          : `Needs the scope <code>${route.scope}</code>.`
  const mode = route.mode === undefined ? '' : ` Exists in ${route.mode} mode only.`
  const parts = [
    `<h3 id="${anchor(route)}">${escape(route.summary)}</h3>`,
    `<p class="call"><span class="verb ${route.method}">${route.method}</span> <span>${escape(route.path)}</span></p>`,
    route.description === undefined ? '' : prose(route.description),
    `<p class="soft">${scope}${mode}</p>`,
    table('Query', (route.query as Schema | undefined)?.properties, (route.query as Schema | undefined)?.required ?? [], false),
    route.body === undefined ? '' : table('Body', (route.body as Schema).properties, (route.body as Schema).required ?? [], true),
    ...Object.entries(route.uploads ?? {}).map(([type, { schema }]) =>
      table(`Body as ${type}`, (schema as Schema).properties, (schema as Schema).required ?? [], true),
    ),
    `<h4>Example</h4><pre><code>${escape(curl(route, base_url))}</code></pre>`,
    ...Object.entries(route.replies).map(([status, schema]) => answer(status, schema)),
    route.csv === undefined ? '' : '<p class="soft">With <code>Accept: text/csv</code> answers 200 with CSV.</p>',
    `<details><summary>Error codes</summary><p>${codesOf(route)
      .map((code) => `<a href="/docs/errors#${code}"><code>${code}</code></a> <span class="soft">${errorCatalogue[code].status}</span>`)
      .join(' · ')}</p></details>`,
  ]
  return parts.join('\n')
}

interface Schema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
}

function table(title: string, properties: Schema['properties'], required: readonly string[], nested: boolean): string {
  if (properties === undefined || Object.keys(properties).length === 0) return ''
  const rows = Object.entries(properties).flatMap(([name, schema]) => fieldRows(name, schema, required.includes(name), nested ? 0 : 9))
  return `<h4>${title}</h4><div class="scroll"><table><thead><tr><th>name</th><th>type</th><th>meaning</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`
}

function fieldRows(name: string, schema: Schema, required: boolean, depth: number): string[] {
  const row = `<tr><td><code>${escape(name)}</code>${required ? ' <span class="required">required</span>' : ''}</td><td>${escape(typeOf(schema))}</td><td>${inline([schema.description, boundsOf(schema)].filter((text) => text !== undefined && text !== '').join(' '))}</td></tr>`
  const content = typeOfContent(schema)
  if (content !== undefined)
    return [
      `<tr><td><code>${escape(name)}</code></td><td>${escape(typeOf(schema))}</td><td>${inline(schema.description ?? '')} <a href="/docs/content#${content}">Its fields</a></td></tr>`,
    ]
  if (depth >= 3) return [row]
  const [inner, prefix] = schema.items?.properties === undefined ? [schema, `${name}.`] : [schema.items, `${name}[].`]
  return [
    row,
    ...Object.entries(inner.properties ?? {}).flatMap(([field, child]) => fieldRows(prefix + field, child, (inner.required ?? []).includes(field), depth + 1)),
  ]
}

function typeOf(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  const type = [schema.type ?? 'any'].flat().map(String).join(' or ')
  return schema.items === undefined ? type : `${type} of ${typeOf(schema.items)}`
}

function boundsOf(schema: Schema): string {
  const bounds: string[] = []
  if (schema.enum !== undefined)
    bounds.push(
      `One of ${schema.enum
        .filter((value) => value !== null)
        .map((value) => `\`${String(value)}\``)
        .join(', ')}.`,
    )
  const range = (min: number | undefined, max: number | undefined, unit: string) => {
    if (min !== undefined && max !== undefined) bounds.push(`${min} to ${max}${unit}.`)
    else if (max !== undefined) bounds.push(`At most ${max}${unit}.`)
    else if (min !== undefined && (min > 1 || unit === '')) bounds.push(`At least ${min}${unit}.`)
  }
  range(schema.minLength, schema.maxLength, ' characters')
  range(schema.minimum, schema.maximum, '')
  range(schema.minItems, schema.maxItems, ' items')
  if (schema.default !== undefined) bounds.push(`Default \`${JSON.stringify(schema.default)}\`.`)
  return bounds.join(' ')
}

function curl(route: Route, base_url: string): string {
  const where = route.example_query === undefined ? `${base_url}${route.path}` : `'${base_url}${route.path}?${route.example_query}'`
  const lines = [
    `curl ${route.method === 'GET' || route.method === 'POST' ? '' : `-X ${route.method} `}${where}`,
    route.take === undefined ? `-H 'Authorization: Bearer svc_${route.mode ?? 'test'}_…'` : `-H 'Service-Signature: t=…,v1=…'`,
  ]
  if (route.body !== undefined && route.streamed !== true) lines.push(`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(requestExample(route))}'`)
  else if (route.uploads !== undefined)
    lines.push(`-H 'Content-Type: ${Object.keys(route.uploads)[0]}'`, route.take === undefined ? '--data-binary @file.csv' : '--data-binary @event.json')
  else if (route.method === 'POST') lines.push('-X POST')
  return lines.join(' \\\n  ')
}

function answer(status: string, schema: Route['replies'][number]): string {
  if (typeof schema === 'string') return `<p class="soft">Answers ${status}${schema === '' ? ' without a body' : ` with <code>${escape(schema)}</code>`}.</p>`
  return `<details><summary>Answer ${status}</summary><pre><code>${escape(JSON.stringify(sample(schema), null, 2))}</code></pre></details>`
}

function errorsPage(): string {
  const codes = Object.keys(errorCatalogue) as ErrorCode[]
  const byStatus = Map.groupBy(codes, (code) => errorCatalogue[code].status)
  const nav = `<div class="short"><h2>Reference</h2><ul><li><a href="/docs">All operations</a></li></ul></div>${[...byStatus].map(([status, entries]) => `<h2>${status}</h2><ul>${entries.map((code) => `<li><a href="#${code}">${code}</a></li>`).join('')}</ul>`).join('')}`
  const main = `<h1>Error codes</h1>${prose('Every response other than 2xx and 304 has an `error` object with one of these codes. `type` follows from the status; new codes may be added to a type, so treat an unknown code as its type.')}${codes.map(errorEntry).join('')}`
  return page('Posthorn error codes', nav, main)
}

function errorEntry(code: ErrorCode): string {
  const { status, title, fix } = errorCatalogue[code]
  return `<h3 id="${code}"><a href="#${code}"><code>${code}</code></a></h3><p class="soft">${status} · <code>${errorType(status)}</code></p><p>${inline(title)} ${inline(fix)}</p>`
}
