/** Fields that several content types share, and helpers to write schemas. */
import { Type, type Static, type TSchema } from 'typebox'

/** null means the same as absent. */
export const maybe = <S extends TSchema>(schema: S) =>
  Type.Optional(
    Type.Unsafe<Static<S> | null>({ ...schema, type: [(schema as { type?: string }).type ?? 'object', 'null'] }),
  )

/** In Unicode code points; without `most` only the body limit applies. */
export const text = (least: number, most: number | undefined, description: string) =>
  Type.String({
    ...(least === 0 ? {} : { minLength: least }),
    ...(most === undefined ? {} : { maxLength: most }),
    description,
  })

export const oneOf = <const V extends string>(values: readonly V[], description: string) =>
  Type.Unsafe<V>({ type: 'string', enum: [...values], description })

export const list = <S extends TSchema>(item: S, least: number, most: number | undefined, description: string) =>
  Type.Array(item, {
    ...(least === 0 ? {} : { minItems: least }),
    ...(most === undefined ? {} : { maxItems: most }),
    description,
  })

/** Allows http for files on this machine, which only the sandbox can use. */
const https = '^([Hh][Tt][Tt][Pp][Ss]://|http://(localhost|127\\.0\\.0\\.1|\\[::1\\])(:[0-9]+)*/media/med_)'
export const httpsUrl = (description: string) => Type.String({ format: 'uri', pattern: https, description })
export const webUrl = (description: string) =>
  Type.String({ format: 'uri', pattern: '^[Hh][Tt][Tt][Pp][Ss]?://', description })

export const body = Type.Object(
  { text: text(1, 1024, 'The main text.') },
  { description: 'The main part of the message.' },
)
export const footer = maybe(
  Type.Object(
    { text: text(0, 60, 'The small text at the end.') },
    { description: 'A line in small type under the message.' },
  ),
)

const headerTypes = ['text', 'image', 'video', 'document'] as const
export const header = maybe(
  Type.Object(
    {
      type: oneOf(headerTypes, 'Type of the header.'),
      text: maybe(text(1, 60, 'The headline; for type `text`.')),
      url: maybe(httpsUrl('Where the picture, video or document is fetched from; for the other types.')),
      filename: maybe(text(0, undefined, 'The name under which a document is shown.')),
    },
    { description: 'The header above the message.' },
  ),
)

export const replyButton = Type.Object({
  reply: Type.Object(
    {
      id: text(1, 256, 'Your ID for the button; returned in the `button_reply`.'),
      title: text(1, 20, 'The label of the button.'),
    },
    { description: 'The button.' },
  ),
})

export const urlParameters = Type.Object(
  {
    display_text: text(1, 20, 'The label of the button.'),
    url: webUrl('The address that the button opens.'),
  },
  { description: 'The button.' },
)
