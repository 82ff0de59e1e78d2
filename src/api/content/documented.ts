/** The body of a send request for documents; validation chooses by `type` (`validate.ts`). */
import { Type, type TSchema } from 'typebox'
import { SendMessage } from '../resources/message.ts'
import type { ContentType } from './content-type.ts'
import { capabilities, contentTypes } from './registry.ts'

/** `CtaUrlContent` for `cta_url` */
export const contentSchemaId = (type: string): string =>
  `${type
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')}Content`

const fields: Record<string, TSchema> = Object.fromEntries(
  capabilities.map((type) => {
    const { schema, summary, example, inbound_schema } = contentTypes[type] as ContentType
    const wider = inbound_schema === undefined ? '' : ' Inbound content may exceed these limits.'
    return [
      type,
      Type.Optional(
        Type.Unsafe<unknown>({
          ...schema,
          $id: contentSchemaId(type),
          description: `Where \`type\` is \`${type}\`: ${summary}${wider}`,
          examples: [example],
        }),
      ),
    ]
  }),
)

export const DocumentedSendMessage = Type.Object(
  { ...SendMessage.properties, ...fields },
  {
    $id: 'SendMessage',
    additionalProperties: true,
    description:
      'A message to send, with its content object under the key named by `type`. Content objects of other types are ignored.',
  },
)
