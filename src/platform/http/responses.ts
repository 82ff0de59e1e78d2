/** A route as Fastify takes it: its path, and the white lists of its replies. */
import fastJsonStringify, { type Schema } from 'fast-json-stringify'
import type { TSchema } from 'typebox'
import { ApiError } from '../../api/resources/api-error.ts'
import type { Route } from './route.ts'

/** A path with parameters in braces, as the router writes them. */
export const routerPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1')

/** The white lists of a route's replies; errors have one of their own. */
export function responses(route: Pick<Route, 'replies'>): Record<string, unknown> {
  const declared: Record<string, unknown> = { '4xx': apiError, '5xx': apiError }
  for (const [status, schema] of Object.entries(route.replies))
    if (typeof schema !== 'string') declared[status] = whiteList(schema)
  return declared
}

const whiteLists = new WeakMap<object, unknown>()

/** The same for the same schema, so that its serialiser is made once, however many routes and servers of this process have it. */
function whiteList(schema: object): unknown {
  const known = whiteLists.get(schema)
  if (known !== undefined) return known
  const made = plain(schema)
  whiteLists.set(schema, made)
  return made
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

type Serialise = (value: unknown) => string

const serialisers = new WeakMap<object, Serialise>()

/** What writes the replies of a white list. It is made when the first is written: to make all of them takes more of the processor than the rest of a start (docs/decisions/http-pipeline.md). */
export function serialiser({ schema }: { readonly schema: object }): Serialise {
  const known = serialisers.get(schema)
  if (known !== undefined) return known
  let made: Serialise | undefined
  const serialise = (value: unknown): string => (made ??= fastJsonStringify(schema as Schema))(value)
  serialisers.set(schema, serialise)
  return serialise
}
