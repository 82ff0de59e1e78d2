/** What would come of a message or of rules that are not kept yet (behaviour: console 7.3). */
import { MessagePreview, MessagePreviewRequest } from '../../../api/resources/message-preview.ts'
import { RulesPreview, RulesPreviewRequest } from '../../../api/resources/segment.ts'
import { reply } from '../../../platform/http/route.ts'
import { consoleRoute, type ConsoleRoute } from '../console-route.ts'
import type { ConsoleServices } from '../console-services.ts'

const facts = { access: 'account', moded: true, method: 'POST', idempotent: 'lease' } as const

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
    replies: { 200: MessagePreview },
    errors: ['parameter_missing', 'parameter_invalid', 'unsupported_message_type', 'resource_missing'],
    handler: async ({ caller, body, signal }) => reply(200, await campaigns.preview(caller, body, signal)),
  }),
  consoleRoute({
    ...facts,
    operation: 'segment_previews.create',
    path: '/console/api/segment_previews',
    scope: 'contacts:read',
    summary: 'Count whom rules mean',
    description: 'As the preview of a segment, of rules that are not kept yet.',
    body: RulesPreviewRequest,
    replies: { 200: RulesPreview },
    errors: ['resource_missing'],
    async handler({ caller, body, signal }) {
      const asked = { account_id: caller.account_id, gone: signal, narrow: 'Narrow the rules.' }
      return reply(
        200,
        await platform.reads.run(asked, (sql) => contacts.segments.previewRules(sql, caller, body.rules)),
      )
    },
  }),
]
