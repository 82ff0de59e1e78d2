/** Files to be linked in messages (behaviour: console 7.6). */
import { Type } from 'typebox'
import { UploadedMedia } from '../../../api/resources/uploaded-media.ts'
import { consoleRoute, type ConsoleRoute } from '../console-route.ts'
import type { ConsoleServices } from '../console-services.ts'

const MediaForm = Type.Object(
  { file: Type.String({ contentMediaType: 'application/octet-stream', description: 'The file, with its name.' }) },
  { additionalProperties: false },
)

export const mediaRoutes = ({ media: { uploads } }: ConsoleServices): ConsoleRoute[] => [
  consoleRoute({
    access: 'account',
    moded: true,
    permission: 'upload',
    operation: 'media.create',
    method: 'POST',
    path: '/console/api/media',
    scope: null,
    summary: 'Upload a file for messages',
    description:
      'A form (`multipart/form-data`) with one picture, audio, video or document in the field `file`. Its `url` can be linked in messages until it expires. What can run in a browser, such as HTML and SVG, is not taken.',
    streamed: true,
    uploads: { 'multipart/form-data': { schema: MediaForm } },
    replies: { 201: UploadedMedia },
    errors: ['parameter_missing', 'parameter_invalid', 'payload_too_large', 'invalid_json', 'upstream_unavailable'],
    digestOf: ({ raw }) => uploads.digest(raw),
    handler: ({ caller, raw, sql, keep }) => uploads.take(sql, caller, raw, keep),
  }),
]
