/** The page `/docs/content`: every content type with its fields, rules and a complete request, read off the schemas that validate it. */
import { contentSchemaId } from '../contract/content/documented.ts'
import { contentReference, inboundWords, type ContentReference, type FieldReference } from '../contract/content/reference.ts'
import { navSection, startLinks } from './navigation.ts'
import { escape, inline, page, prose } from './page.ts'

const typeById = new Map(contentReference().map(({ type }) => [contentSchemaId(type), type]))

/** The content type whose schema this is, for links to its entry. */
export const typeOfContent = (schema: object): string | undefined => typeById.get(String((schema as { $id?: unknown }).$id))

export function contentPage(): string {
  const references = contentReference()
  const [sent, received] = [references.filter((one) => one.direction === 'both'), references.filter((one) => one.direction === 'inbound')]
  const nav = startLinks('/docs/content') + links('Types to send', sent) + links('Types that only come in', received)
  const intro = prose(
    'A message names its kind in `type` and carries its content under the key of that name; content objects of other types are ignored. A channel takes the types in its `capabilities`.\n\nLengths count Unicode code points. Fields that are not listed are kept and handed to the channel. Where a field may be left out, `null` means the same. Every failure of a request is listed at once in `details`, each with its path.',
  )
  const main = `<h1>Message content</h1>${intro}<h2 id="sent">Types to send</h2>${sent.map(entry).join('\n')}<h2 id="received">Types that only come in</h2>${prose('No channel sends these. With a test key `POST /v1/test/inbound_messages` makes one come in.')}${received.map(entry).join('\n')}`
  return page('Message content · Posthorn', nav, main)
}

const links = (title: string, references: readonly ContentReference[]): string =>
  navSection(
    title,
    references.map(({ type }) => `<li><a href="#${type}">${type}</a></li>`),
  )

function entry(reference: ContentReference): string {
  const { type, summary, fields, channels, inbound, rules, request, refusal } = reference
  return [
    `<h3 id="${type}"><code>${type}</code></h3>`,
    prose(summary),
    table(fields),
    ...channels.map((one) => `${prose(`On channels of type \`${one.channel_type}\`:`)}${table(one.fields)}`),
    inbound.length === 0 ? '' : `${prose(inboundWords)}${table(inbound)}`,
    rules.length === 0 ? '' : `<ul>${rules.map((rule) => `<li>${inline(rule)}</li>`).join('')}</ul>`,
    `<h4>A complete request</h4><pre><code>${escape(`${request.method} ${request.path}\n\n${JSON.stringify(request.body, null, 2)}`)}</code></pre>`,
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
  return `<div class="scroll"><table><thead><tr><th>field</th><th>holds</th><th>meaning</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`
}
