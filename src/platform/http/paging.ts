/** Pagination: `limit`, `starting_after`, newest first, list envelope (behaviour: conventions 8). */
import { Type, type TProperties, type TSchema } from 'typebox'
import { objectName } from '../../api/resources/shared-fields.ts'
import { limits } from '../../api/limits.ts'
import { invalid, type Problem } from '../../api/problem.ts'

const pageQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: limits.page_max,
      default: limits.page_default,
      description: 'Objects per page.',
    }),
  ),
  starting_after: Type.Optional(
    Type.String({ minLength: 1, description: 'The id of the last object of the previous page (`next_cursor`).' }),
  ),
}

export const listQuery = <P extends TProperties>(filters: P) =>
  Type.Object({ ...filters, ...pageQuery }, { additionalProperties: false })

/** For lists of one page; without a default limit. */
export const onePageQuery = Type.Object(
  {
    ...pageQuery,
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: limits.page_max, description: 'Objects at most. Default: all of them.' }),
    ),
  },
  { additionalProperties: false },
)

export const listOf = <T extends TSchema>(item: T) =>
  Type.Object({
    object: objectName('list'),
    data: Type.Array(item, { description: 'The items, newest first unless the operation says otherwise.' }),
    has_more: Type.Boolean({ description: 'Whether another page follows.' }),
    next_cursor: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Pass it as `starting_after` to get the next page; null on the last page.',
    }),
  })

export interface Page {
  readonly limit: number
  readonly starting_after: string | undefined
}

export const pageOf = (query: { limit?: number; starting_after?: string }): Page => ({
  limit: query.limit ?? limits.page_default,
  starting_after: query.starting_after,
})

/** `absence` begins the error message. `exists` must find deleted objects too. */
export async function requireCursor(
  cursor: string | undefined,
  absence: string,
  exists: (cursor: string) => Promise<boolean>,
): Promise<void> {
  if (cursor !== undefined && !(await exists(cursor))) throw wrongCursor(absence)
}

export const wrongCursor = (absence: string): Problem =>
  invalid(
    'starting_after',
    'invalid_value',
    `${absence} given in starting_after. Use the next_cursor of the page before.`,
  )

/** The row after `limit` only sets `has_more`. */
export function pageReply<T extends { readonly id: string }>(rows: readonly T[], limit: number) {
  const data = rows.slice(0, limit)
  const has_more = rows.length > limit
  return { object: 'list' as const, data, has_more, next_cursor: has_more ? data[data.length - 1]!.id : null }
}

/** (behaviour: conventions 8.4) */
export function onePage<T extends { readonly id?: string }>(
  all: readonly T[],
  query: { limit?: number; starting_after?: string } = {},
) {
  const after = query.starting_after === undefined ? 0 : all.findIndex((item) => item.id === query.starting_after) + 1
  if (query.starting_after !== undefined && after === 0)
    throw invalid(
      'starting_after',
      'invalid_value',
      'Nothing in this list has the id given in starting_after. Leave it out to start at the newest.',
    )
  return {
    object: 'list' as const,
    data: all.slice(after, after + (query.limit ?? all.length)),
    has_more: false,
    next_cursor: null,
  }
}
