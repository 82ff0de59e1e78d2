/** Previews of messages, and uploads of files for them. */
import { Type } from 'typebox'
import { limits } from '../../../api/limits.ts'
import { MessagePreview, MessagePreviewRequest } from '../../../api/resources/message-preview.ts'
import { RulesPreview, RulesPreviewRequest } from '../../../api/resources/segment.ts'
import { UploadedMedia } from '../../../api/resources/uploaded-media.ts'
import { reply } from '../../../platform/http/route.ts'
import { consoleRoute, type ConsoleRoute, type ConsoleServices } from '../route.ts'

const facts = { access: 'account', moded: true, method: 'POST', idempotent: 'lease' } as const

/** (behaviour: console 7.3) */
export const previewRoutes = ({ platform, contacts, campaigns }: ConsoleServices): ConsoleRoute[] => [
  consoleRoute({
    ...facts,
    operation: 'preview.message',
    path: '/console/api/preview',
    scope: 'campaigns:read',
    summary: 'Preview a message',
    description:
      'As its first recipient would get it, with the recipients and the cost. Nothing is stored, sent or charged.',
    body: MessagePreviewRequest,
    body_members_max: limits.audience_body_members_max,
    replies: { 200: MessagePreview },
    errors: ['parameter_missing', 'parameter_invalid', 'unsupported_message_type', 'resource_missing'],
    handler: async ({ caller, body, signal }) => reply(200, await campaigns.preview(caller, body, signal)),
  }),
  consoleRoute({
    ...facts,
    operation: 'segment_previews.create',
    path: '/console/api/segment_previews',
    scope: 'contacts:read',
    summary: 'Count the contacts that match rules',
    description: 'As the preview of a segment, for rules that are not saved.',
    body: RulesPreviewRequest,
    replies: { 200: RulesPreview },
    errors: ['resource_missing'],
    async handler({ caller, body, signal }) {
      const request = { account_id: caller.account_id, gone: signal, narrow: 'Narrow the rules.' }
      return reply(
        200,
        await platform.reads.run(request, (sql) => contacts.segments.previewRules(sql, caller, body.rules)),
      )
    },
  }),
]

const MediaForm = Type.Object(
  { file: Type.String({ contentMediaType: 'application/octet-stream', description: 'The file, with its name.' }) },
  { additionalProperties: false },
)

/** (behaviour: console 7.6) */
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
    handler: ({ caller, raw, sql, keep }) => uploads.receive(sql, caller, raw, keep),
  }),
]
