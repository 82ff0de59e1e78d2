/** The pages `/docs/errors` and `/docs/errors/<code>`, which `doc_url` links to. */
import { consoleErrorCatalogue } from '../api/console-errors.ts'
import { errorCatalogue, errorType, type ErrorCode } from '../api/errors.ts'
import { navEntry, navSection, startLinks } from './navigation.ts'
import { codesOf, errorExample } from './openapi.ts'
import { escape, inline, page, prose } from './page.ts'
import { operationPath, type Site } from './site.ts'

/** In catalogue order. */
export const errorCodes = Object.keys(errorCatalogue) as ErrorCode[]

/** `/docs/errors/resource_missing`. */
export const errorPath = (code: ErrorCode): string => `/docs/errors/${code}`

const byStatus = [...Map.groupBy(errorCodes, (code) => errorCatalogue[code].status)].toSorted(
  ([one], [other]) => one - other,
)

export function errorsPage(): string {
  const main = `<h1>Error codes</h1>${prose('Every response other than 2xx and 304 has an `error` object with one of these codes. `type` follows from the status; new codes may be added to a type, so treat an unknown code as its type.')}<p><a href="/docs/guides/errors">Errors and retries, step by step</a></p>${byStatus.map(([status, own]) => `<h2 id="status-${status}">${status} <code>${errorType(status)}</code></h2>${own.map(entry).join('')}`).join('')}${consoleCodes}`
  return page('Error codes · Posthorn', navigation('/docs/errors'), main)
}

const consoleCodes = `<h2 id="console">Of the console and callbacks</h2>${prose('Below `/console/api`, and where providers call back; `/v1` answers none of them.')}${Object.entries(
  consoleErrorCatalogue,
)
  .map(
    ([code, { status, title, fix }]) =>
      `<h3 id="${code}"><code>${code}</code></h3><p>${status} · ${inline(title)} ${inline(fix)}</p>`,
  )
  .join('')}`

function entry(code: ErrorCode): string {
  const { title, fix } = errorCatalogue[code]
  return `<h3 id="${code}"><a class="anchor" href="${errorPath(code)}"><code>${code}</code></a></h3><p>${inline(title)} ${inline(fix)}</p>`
}

function navigation(here: string): string {
  const sections = byStatus.map(([status, own]) =>
    navSection(
      String(status),
      own.map((code) => navEntry(errorPath(code), code, errorPath(code) === here)),
    ),
  )
  return startLinks(here) + sections.join('')
}

export function errorCodePage(site: Site, code: ErrorCode): string {
  const { status, title, fix } = errorCatalogue[code]
  const main = `<p class="crumbs"><a href="/docs/errors">Error codes</a></p><h1><code>${code}</code></h1><p class="soft">${status} · <code>${errorType(status)}</code></p>${prose(title)}
<h2 id="fix">What to do</h2>${prose(fix)}<p><a href="/docs/guides/errors">Errors and retries, step by step</a></p>
<h2 id="answer">Answer</h2>${prose('`message` says more of what was wrong with the request; branch on `code`.')}<pre><code>${escape(JSON.stringify(errorExample(code), null, 2))}</code></pre>
${operations(site, code)}`
  return page(`${code} · Error codes · Posthorn`, navigation(errorPath(code)), main)
}

/** Lists none if most operations return the code. */
function operations({ resources }: Site, code: ErrorCode): string {
  const all = resources.flatMap(({ routes }) => routes)
  const answering = all.filter((route) => codesOf(route).includes(code))
  const entries = answering.map((route) => navEntry(operationPath(route), route.summary))
  if (answering.length === 0) return ''
  const list = answering.length > all.length / 2 ? '<p>Most operations answer it.</p>' : `<ul>${entries.join('')}</ul>`
  return `<h2 id="operations">Operations that answer it</h2>${list}`
}
