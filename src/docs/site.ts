/** Resources, operations and objects, and the addresses of their pages. */
import type { Route } from '../platform/http/route.ts'
import { openapiDocument } from './openapi.ts'
import { sample } from './samples.ts'
import type { Schema } from './schema.ts'

/** The operations of one tag. */
export interface Resource {
  readonly title: string
  readonly path: string
  readonly description: string
  readonly routes: readonly Route[]
}

/** An object in responses; its resource's page lists its fields. */
export interface ShownObject {
  readonly name: string
  readonly schema: Schema
  readonly resource: Resource
  readonly href: string
}

export interface Site {
  readonly base_url: string
  readonly resources: readonly Resource[]
  readonly objects: ReadonlyMap<string, ShownObject>
}

export const slug = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')

/** `/docs/api/messages.send`. */
export const operationPath = ({ operation }: Route): string => `/docs/api/${operation}`

/** An anchor of an earlier version of `/docs`, which still works. */
export const formerAnchor = ({ method, path }: Route): string =>
  `${method.toLowerCase()}${path.replaceAll(/[^A-Za-z0-9]+/g, '-')}`.replace(/-$/, '')

export function siteOf(routes: readonly Route[], base_url: string): Site {
  const tags = openapiDocument(routes, base_url)['tags'] as readonly { name: string; description: string }[]
  const descriptions = new Map(tags.map(({ name, description }) => [name, description]))
  const resources = [...Map.groupBy(routes, ({ tag }) => tag)].map(([title, own]) => ({
    title,
    path: `/docs/api/${slug(title)}`,
    description: descriptions.get(title) ?? '',
    routes: own,
  }))
  return { base_url, resources, objects: objectsOf(resources) }
}

/** Each with the resource that retrieves it, otherwise the first that returns it. */
function objectsOf(resources: readonly Resource[]): Map<string, ShownObject> {
  const objects = new Map<string, ShownObject>()
  const answers = resources.flatMap((resource) => resource.routes.map((route) => ({ resource, route })))
  const retrieving = ({ route }: { route: Route }): boolean => /\.(retrieve|list)\w*$/.test(route.operation)
  for (const { resource, route } of [...answers.filter(retrieving), ...answers])
    for (const reply of Object.values(route.replies)) {
      const schema = typeof reply === 'string' ? undefined : namedIn(reply as Schema)
      if (schema === undefined || objects.has(schema.$id!)) continue
      const name = schema.$id!
      objects.set(name, { name, schema, resource, href: `${resource.path}#${objectAnchor(name)}` })
    }
  return objects
}

export const objectAnchor = (name: string): string => `object-${slug(name.replaceAll(/([a-z])([A-Z])/g, '$1-$2'))}`

/** The named object of a reply or of the items of its list. */
export function namedIn(schema: Schema): Schema | undefined {
  if (schema.$id !== undefined && schema.properties !== undefined) return schema
  const item = schema.properties?.['data']?.items
  return item?.$id !== undefined && item.properties !== undefined ? item : undefined
}

/** With realistic ids of the objects in the path. */
export function examplePath({ resources }: Site, { path }: Route): string {
  const routes = resources.flatMap((resource) => resource.routes)
  const segments = path.split('/')
  return segments
    .map((segment, index) => {
      if (!segment.startsWith('{')) return segment
      const named = segments.slice(0, index + 1).join('/')
      const answered = routes.find((route) => route.path === named && route.method === 'GET')?.replies[200]
      const { id } = typeof answered === 'object' ? (sample(answered) as { id?: unknown }) : {}
      return typeof id === 'string' ? id : segment
    })
    .join('/')
}
