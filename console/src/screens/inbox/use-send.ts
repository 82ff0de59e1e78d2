/** Sends something in a conversation, once. */
import { answered, v1 } from '../../api/client.ts'
import { contentExamples } from '../../api/generated/contents.ts'
import type { components } from '../../api/generated/v1.ts'
import type { ApiRequest } from '../../parts/api-button.tsx'
import { useAction, type Action } from '../../api/use-action.ts'
import { useStale } from '../../api/use-stale.ts'
import { useAttempt } from '../../parts/use-attempt.ts'
import { usePlace } from '../../parts/use-place.ts'
import type { Conversation } from './conversation.ts'

type Body = components['schemas']['SendMessage']

/** `content` is that of the type, as the API has it. */
export interface Said {
  readonly type: string
  readonly content: unknown
}

const bodyOf = ({ channel_id, identifier }: Conversation, { type, content }: Said): Body =>
  ({ channel: channel_id, to: identifier, type, [type]: content }) as Body

/** For the button `API`: what a reply is to the API. */
export const replyRequest = (conversation: Conversation): ApiRequest => ({
  operation: 'messages.send',
  method: 'POST',
  path: '/v1/messages',
  body: bodyOf(conversation, { type: 'text', content: contentExamples.text }),
})

export function useSend(conversation: Conversation, onSent: (said: Said) => void): Action<Said> {
  const place = usePlace()
  const stale = useStale(place)
  return useAction(
    (said: Said, key) =>
      answered(
        v1(place).POST('/v1/messages', { body: bodyOf(conversation, said), headers: { 'Idempotency-Key': key } }),
      ),
    async (_, said) => {
      onSent(said)
      await stale('messages.', 'conversations.list_messages')
    },
    useAttempt(place, `reply ${conversation.id}`),
  )
}
