/** What a content type is: one entry per kind of message, from which validation, OpenAPI and the reference pages derive. */
import type { TSchema } from 'typebox'
import type { Rule } from './rules.ts'

export interface ContentType<S extends TSchema = TSchema> {
  /** One sentence: what the recipient gets, or for inbound-only types what has arrived. */
  readonly summary: string
  readonly schema: S
  /** By channel type, where a channel takes less than the schema says. */
  readonly channel_schemas?: Readonly<Record<string, TSchema>>
  /** For what comes in, where it is wider than what may be sent. */
  readonly inbound_schema?: TSchema
  /** A complete content object that is valid. */
  readonly example: unknown
  /** Rules beyond the schema: a sentence for the reference, and the check. */
  readonly rules: readonly { readonly sentence: string; readonly check: Rule }[]
  /** Types that come in only are in no channel's capabilities. */
  readonly direction: 'both' | 'inbound'
}

/** Keeps the schema's own type, so that `Static<typeof button.schema>` is the content's. */
export const contentType = <S extends TSchema>(entry: ContentType<S>): ContentType<S> => entry
