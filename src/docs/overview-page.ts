/** The page `/docs`: the first call, conventions, and all operations. */
import { eventTypes } from '../api/events.ts'
import { limits } from '../api/limits.ts'
import { scopes } from '../api/scopes.ts'
import { testRecipients } from '../modules/channels/test-channels.ts'
import { codeSamples, codeTabs } from './code-samples.ts'
import { navigation } from './navigation.ts'
import { escape, page, prose } from './page.ts'
import { operationList } from './resource-page.ts'
import { formerAnchor, slug, type Resource, type Site } from './site.ts'

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

export function overviewPage(site: Site): string {
  const first = site.resources.flatMap(({ routes }) => routes).find(({ operation }) => operation === 'messages.send')
  const main = `<h1>Posthorn reference</h1>${prose('Send messages on several channels through one API, and hear back through signed webhooks. Send one now; nothing is delivered or billed with a test key:')}
${first === undefined ? '' : codeTabs(codeSamples(site, first))}
<p><a href="/docs/guides/first-message">Your first message, step by step</a> · <a href="/docs/guides/typescript">The same in TypeScript</a> · <a href="/docs/openapi.json">OpenAPI 3.1</a> · <a href="/docs/postman.json">Postman collection</a> · <a href="/llms.txt">llms.txt</a></p>
<ul class="topics">${topics.map(([id, title]) => `<li><a href="#${id}">${title}</a></li>`).join('')}<li><a href="#operations">Operations</a></li></ul>
${guide()}
<h2 id="operations">Operations</h2>
${site.resources.map(operations).join('')}`
  return page('Posthorn reference', navigation(site, '/docs'), main)
}

/** Keeps the anchors of an earlier version of this page. */
const operations = (resource: Resource): string =>
  `<h3 id="operations-${slug(resource.title)}"><a href="${resource.path}">${escape(resource.title)}</a></h3>${prose(resource.description)}${operationList(resource, formerAnchor)}`

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
