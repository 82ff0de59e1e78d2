/** The page of one operation: description, parameters, responses and samples. */
import { errorCatalogue } from '../api/errors.ts'
import type { Route } from '../platform/http/route.ts'
import { codeSamples, codeTabs } from './code-samples.ts'
import { errorPath } from './errors-page.ts'
import { fieldTable } from './fields.ts'
import { navigation } from './navigation.ts'
import { codesOf } from './openapi.ts'
import { escape, page, prose } from './page.ts'
import { sample } from './samples.ts'
import type { Schema } from './schema.ts'
import { namedIn, operationPath, type Resource, type Site } from './site.ts'
import { tryIt } from './try-it.ts'

export const methodAndPath = ({ method, path }: Route): string =>
  `<span class="verb ${method}">${method}</span> <span>${escape(path)}</span>`

export function operationPage(site: Site, resource: Resource, route: Route): string {
  const here = operationPath(route)
  const main = `<p class="crumbs"><a href="/docs">Reference</a> / <a href="${resource.path}">${escape(resource.title)}</a></p>
<h1>${escape(route.summary)}</h1>
<p class="call">${methodAndPath(route)}</p>
<div class="columns"><div>
${route.description === undefined ? '' : prose(route.description)}
${needs(route)}
${takes(route)}
${answers(site, route)}
${errors(route)}
</div><div class="aside">
<h2 id="request">Request</h2>${codeTabs(codeSamples(site, route))}
${tryIt(route)}
${examples(route)}
</div></div>
${neighbours(resource, route)}`
  return page(`${route.summary} · Posthorn`, navigation(site, here, resource), main)
}

function needs(route: Route): string {
  const key =
    route.signedHandler !== undefined
      ? 'Needs no key: a signature made with the signing secret of the source stands in for it.'
      : route.source_key === true
        ? 'Needs the key of an integration source.'
        : route.scope === null
          ? 'Every accepted key may call it.'
          : `Needs the scope <code>${route.scope}</code>.`
  const mode = route.mode === undefined ? '' : ` Exists in ${route.mode} mode only.`
  const id = `Its operation id is <code>${route.operation}</code>.`
  return `<p class="soft">${key}${mode} ${id}</p>`
}

function takes(route: Route): string {
  const uploads = Object.entries(route.uploads ?? {})
  return [
    section('Query', fieldTable(route.query as Schema | undefined, { nested: false, isRequest: true })),
    section(
      'Body',
      route.streamed === true && uploads.length > 0
        ? ''
        : fieldTable(route.body as Schema | undefined, { nested: true, isRequest: true }),
    ),
    ...uploads.map(([type, { schema }]) =>
      section(`Body as ${type}`, fieldTable(schema as Schema, { nested: true, isRequest: true })),
    ),
  ].join('')
}

const section = (title: string, table: string): string => (table === '' ? '' : `<h2>${title}</h2>${table}`)

function answers(site: Site, route: Route): string {
  const listed = Object.entries(route.replies).map(([status, reply]) => {
    if (reply === '') return `<p><code>${status}</code>, without a body.</p>`
    if (typeof reply === 'string') return `<p><code>${status}</code>, with <code>${escape(reply)}</code>.</p>`
    const named = namedIn(reply as Schema)
    const shown = named === undefined ? undefined : site.objects.get(named.$id!)
    if (shown === undefined)
      return `<p><code>${status}</code>, with:</p>${fieldTable(reply as Schema, { nested: true, isRequest: false })}`
    const link = `<a href="${shown.href}"><code>${shown.name}</code></a>`
    return named === reply
      ? `<p><code>${status}</code>, with ${link}.</p>`
      : `<p><code>${status}</code>, with a list of ${link} in <code>data</code>.</p>`
  })
  const csv = route.csv === undefined ? '' : '<p>With <code>Accept: text/csv</code>: <code>200</code>, with CSV.</p>'
  return `<h2>Answers</h2>${listed.join('')}${csv}`
}

function examples(route: Route): string {
  const bodies = Object.entries(route.replies).filter(([, reply]) => typeof reply !== 'string')
  return bodies
    .map(
      ([status, reply], index) =>
        `<details${index === 0 ? ' open' : ''}><summary>Answer ${status}</summary><pre><code>${escape(JSON.stringify(sample(reply), null, 2))}</code></pre></details>`,
    )
    .join('')
}

function errors(route: Route): string {
  const rows = codesOf(route).map((code) => {
    const { status, title } = errorCatalogue[code]
    return `<tr><td>${status}</td><td><a href="${errorPath(code)}"><code>${code}</code></a></td><td>${escape(title)}</td></tr>`
  })
  return `<h2>Errors</h2><div class="scroll"><table><thead><tr><th>Status</th><th>Code</th><th>Meaning</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`
}

/** The previous and the next operation. */
function neighbours({ routes }: Resource, route: Route): string {
  const at = routes.indexOf(route)
  const link = (other: Route | undefined, label: string) =>
    other === undefined ? '' : `<a href="${operationPath(other)}">${label}: ${escape(other.summary)}</a>`
  return `<p class="neighbours">${link(routes[at - 1], 'Before')} ${link(routes[at + 1], 'Next')}</p>`
}
