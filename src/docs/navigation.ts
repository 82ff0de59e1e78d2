/** The navigation of the reference: start pages, resources, and operations of the open resource. */
import { escape } from './page.ts'
import { operationPath, type Resource, type Site } from './site.ts'

const start = [
  ['/docs', 'Reference'],
  ['/docs/guides', 'Guides'],
  ['/docs/content', 'Message content'],
  ['/docs/errors', 'Error codes'],
  ['/docs/providers', 'Providers'],
  ['/docs/behaviour', 'Behaviour reference'],
  ['/docs/settings', 'Settings'],
  ['/docs/commands', 'Commands'],
  ['/docs/threat-model', 'Threat model'],
] as const

export const startPaths: readonly string[] = start.map(([path]) => path)

export const navEntry = (href: string, text: string, here = false): string =>
  `<li><a href="${href}"${here ? ' aria-current="page"' : ''}>${escape(text)}</a></li>`

/** `here` is the address of the current page. */
export const startLinks = (here = ''): string =>
  `<h2>Start</h2><ul>${start.map(([href, title]) => navEntry(href, title, href === here)).join('')}</ul>`

export const navSection = (title: string, entries: readonly string[]): string =>
  entries.length === 0 ? '' : `<h2>${title}</h2><ul>${entries.join('')}</ul>`

/** `open` is the resource whose operations are listed, `here` the address of the current page. */
export function navigation({ resources }: Site, here: string, open?: Resource): string {
  const entries = resources.map((resource) => {
    const entry = navEntry(resource.path, resource.title, resource.path === here)
    if (resource !== open) return entry
    const operations = resource.routes.map((route) =>
      navEntry(operationPath(route), route.summary, operationPath(route) === here),
    )
    return `${entry.slice(0, -'</li>'.length)}<ul>${operations.join('')}</ul></li>`
  })
  return startLinks(here) + navSection('Resources', entries)
}
