/** Uploaded files that messages can link to (behaviour: console 7). */
import { Type, type Static } from 'typebox'
import { NullableString, Timestamp } from './nullable.ts'
import { objectName } from './shared-fields.ts'

export const UploadedMedia = Type.Object(
  {
    object: objectName('media_file'),
    id: Type.String({ examples: ['med_01HZX3K8QW9V6T5R4N2M1B7C8D'] }),
    url: Type.String({
      description:
        'Where the file is fetched from, without a key, until `expires_at`: for the `url` of attachments and headers.',
    }),
    type: Type.Unsafe<'image' | 'video' | 'audio' | 'document'>({
      type: 'string',
      enum: ['image', 'video', 'audio', 'document'],
      description: 'Kind of attachment.',
    }),
    content_type: Type.String({
      description: 'The media type, told by its bytes and its name.',
      examples: ['image/png'],
    }),
    filename: NullableString({ description: 'As it was uploaded.' }),
    size: Type.Integer({ description: 'In bytes.' }),
    expires_at: Timestamp({ description: 'The file is deleted then.' }),
  },
  { $id: 'UploadedMedia', description: 'A file that messages can link to.' },
)
export type UploadedMedia = Static<typeof UploadedMedia>
