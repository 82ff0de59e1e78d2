/** A route as Fastify takes it: its path, and the white lists of its replies. */
import type { TSchema } from 'typebox'
import { ApiError } from '../../contract/resources/api-error.ts'
import type { Route } from './route.ts'

/** A path with parameters in braces, as the router writes them. */
export const routerPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1')

/** The white lists of a route's replies; errors have one of their own. */
export function responses(route: Pick<Route, 'replies'>): Record<string, unknown> {
  const declared: Record<string, unknown> = { '4xx': apiError, '5xx': apiError }
  for (const [status, schema] of Object.entries(route.replies)) if (typeof schema !== 'string') declared[status] = plain(schema)
  return declared
}

/** A schema without the `$id`s that name it in the documents: the serialiser would take a repeated one for a clash. */
function plain(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(plain)
  if (typeof schema !== 'object' || schema === null) return schema
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => !(key === '$id' && typeof value === 'string'))
      .map(([key, value]) => [key, plain(value)]),
  )
}

const apiError = plain(ApiError as TSchema)
