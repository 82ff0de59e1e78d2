/** The page of a resource: its operations and objects. */
import { fieldTable } from './fields.ts'
import { navigation } from './navigation.ts'
import { methodAndPath } from './operation-page.ts'
import { escape, page, prose } from './page.ts'
import { sample } from './samples.ts'
import { objectAnchor, operationPath, type Resource, type ShownObject, type Site } from './site.ts'

export function resourcePage(site: Site, resource: Resource): string {
  const objects = [...site.objects.values()].filter((object) => object.resource === resource)
  const main = `<p class="crumbs"><a href="/docs">Reference</a></p>
<h1>${escape(resource.title)}</h1>
${prose(resource.description)}
<h2 id="operations">Operations</h2>${operationList(resource)}
${objects.map(objectEntry).join('')}`
  return page(`${resource.title} · Posthorn`, navigation(site, resource.path, resource), main)
}

/** `idOf` gives each operation an anchor. */
export const operationList = ({ routes }: Resource, idOf?: (route: Resource['routes'][number]) => string): string =>
  `<ul class="operations">${routes
    .map(
      (route) =>
        `<li${idOf === undefined ? '' : ` id="${idOf(route)}" data-moved`}><a href="${operationPath(route)}">${escape(route.summary)}</a><span class="call">${methodAndPath(route)}</span></li>`,
    )
    .join('')}</ul>`

function objectEntry({ name, schema }: ShownObject): string {
  return `<h2 id="${objectAnchor(name)}">${escape(name)}</h2>
${schema.description === undefined ? '' : prose(schema.description)}
${fieldTable(schema, { nested: true, isRequest: false })}
<details><summary>Example</summary><pre><code>${escape(JSON.stringify(sample(schema), null, 2))}</code></pre></details>`
}
