/** Defines a content type: validation, OpenAPI and reference pages derive from its entry. */
import type { TSchema } from 'typebox'
import type { Rule } from './rules.ts'

export interface ContentType<S extends TSchema = TSchema> {
  /** One sentence, for the recipient's view. */
  readonly summary: string
  readonly schema: S
  /** Where a channel accepts less than the schema. */
  readonly channel_schemas?: Readonly<Record<string, TSchema>>
  /** Where inbound content is wider than outbound content. */
  readonly inbound_schema?: TSchema
  readonly example: unknown
  /** Beyond the schema. */
  readonly rules: readonly { readonly sentence: string; readonly check: Rule }[]
  /** Inbound types are in no channel's capabilities. */
  readonly direction: 'both' | 'inbound'
}

/** Keeps the schema's own type, for `Static`. */
export const contentType = <S extends TSchema>(entry: ContentType<S>): ContentType<S> => entry
