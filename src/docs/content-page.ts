/** The pages `/docs/content` and `/docs/content/<type>`, derived from the content schemas. */
import { contentSchemaId } from '../api/content/documented.ts'
import { contentReference, inboundWords, type ContentReference, type FieldReference } from '../api/content/reference.ts'
import { navEntry, navSection, startLinks } from './navigation.ts'
import { escape, inline, page, prose } from './page.ts'

const typeById = new Map(contentReference().map(({ type }) => [contentSchemaId(type), type]))

export const typeOfContent = (schema: object): string | undefined =>
  typeById.get(String((schema as { $id?: unknown }).$id))

/** `/docs/content/text`. */
export const contentPath = (type: string): string => `/docs/content/${type}`

/** Keeps the anchors of an earlier version of this page. */
export function contentPage(): string {
  const intro = prose(
    'A message names its kind in `type` and carries its content under the key of that name; content objects of other types are ignored. A channel takes the types in its `capabilities`.\n\nLengths count Unicode code points. Fields that are not listed are kept and handed to the channel. Where a field may be left out, `null` means the same. Every failure of a request is listed at once in `details`, each with its path.',
  )
  const inboundOnly = prose(
    'No channel sends these. With a test key `POST /v1/test/inbound_messages` makes one come in.',
  )
  const main = `<h1>Message content</h1>${intro}<h2 id="sent">Types to send</h2>${list('both')}<h2 id="received">Types that only come in</h2>${inboundOnly}${list('inbound')}`
  return page('Message content · Posthorn', navigation('/docs/content'), main)
}

const list = (direction: ContentReference['direction']): string =>
  `<dl class="entries">${contentReference()
    .filter((one) => one.direction === direction)
    .map(
      ({ type, summary }) =>
        `<dt id="${type}" data-moved><a href="${contentPath(type)}"><code>${type}</code></a></dt><dd>${inline(summary)}</dd>`,
    )
    .join('')}</dl>`

function navigation(here: string): string {
  const links = (title: string, direction: ContentReference['direction']) =>
    navSection(
      title,
      contentReference()
        .filter((one) => one.direction === direction)
        .map(({ type }) => navEntry(contentPath(type), type, contentPath(type) === here)),
    )
  return startLinks(here) + links('Types to send', 'both') + links('Types that only come in', 'inbound')
}

export function contentTypePage(type: string): string {
  const found = contentReference().find((one) => one.type === type)!
  const main = `<p class="crumbs"><a href="/docs/content">Message content</a></p><h1><code>${type}</code></h1>${entry(found)}`
  return page(`${type} · Message content · Posthorn`, navigation(contentPath(type)), main)
}

function entry({ summary, fields, channels, inbound, rules, request, refusal }: ContentReference): string {
  return [
    prose(summary),
    '<h2 id="fields">Fields</h2>',
    table(fields),
    ...channels.map((one) => `${prose(`On channels of type \`${one.channel_type}\`:`)}${table(one.fields)}`),
    inbound.length === 0 ? '' : `${prose(inboundWords)}${table(inbound)}`,
    rules.length === 0
      ? ''
      : `<h2 id="rules">Rules</h2><ul>${rules.map((rule) => `<li>${inline(rule)}</li>`).join('')}</ul>`,
    `<h2 id="request">A complete request</h2><pre><code>${escape(`${request.method} ${request.path}\n\n${JSON.stringify(request.body, null, 2)}`)}</code></pre>`,
    refusal.length === 0
      ? ''
      : `<details><summary>What an empty one is answered with</summary><pre><code>${escape(JSON.stringify(refusal, null, 2))}</code></pre></details>`,
  ].join('\n')
}

function table(fields: readonly FieldReference[]): string {
  const rows = fields.map(
    (field) =>
      `<tr><td><code>${field.path}</code>${field.required ? ' <span class="required">required</span>' : ''}</td><td>${inline(field.holds)}</td><td>${inline(field.description)}</td></tr>`,
  )
  return `<div class="scroll"><table class="fields"><thead><tr><th>Field</th><th>Holds</th><th>Meaning</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`
}
