/** The page `/docs/errors`: every code, what it means and what to do; `doc_url` of a refusal leads to its entry. */
import { errorCatalogue, errorType, type ErrorCode } from '../contract/errors.ts'
import { navSection, startLinks } from './navigation.ts'
import { inline, page, prose } from './page.ts'

export function errorsPage(): string {
  const codes = Object.keys(errorCatalogue) as ErrorCode[]
  const byStatus = Map.groupBy(codes, (code) => errorCatalogue[code].status)
  const sections = [...byStatus].map(([status, entries]) =>
    navSection(
      String(status),
      entries.map((code) => `<li><a href="#${code}">${code}</a></li>`),
    ),
  )
  const main = `<h1>Error codes</h1>${prose('Every response other than 2xx and 304 has an `error` object with one of these codes. `type` follows from the status; new codes may be added to a type, so treat an unknown code as its type.')}${codes.map(entry).join('')}`
  return page('Error codes · Posthorn', startLinks('/docs/errors') + sections.join(''), main)
}

function entry(code: ErrorCode): string {
  const { status, title, fix } = errorCatalogue[code]
  return `<h3 id="${code}"><a class="anchor" href="#${code}"><code>${code}</code></a></h3><p class="soft">${status} · <code>${errorType(status)}</code></p><p>${inline(title)} ${inline(fix)}</p>`
}
