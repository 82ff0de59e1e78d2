/** How a conversation is answered: by a reply, or by a template once its service window is closed. */
import { Text } from '@mantine/core'
import { text } from '../../text/en.ts'
import type { Conversation } from './conversation.ts'
import { ReplyForm } from './reply-form.tsx'
import { SendTemplate } from './send-template.tsx'

export function Answer({
  conversation,
  isClosed,
  onDone,
}: {
  conversation: Conversation
  isClosed: boolean
  onDone: (done: string) => void
}) {
  if (!isClosed) return <ReplyForm conversation={conversation} onDone={onDone} />
  return (
    <div>
      <Text size="sm" mb="xs">
        {text.inbox.closedWhy}
      </Text>
      <SendTemplate conversation={conversation} onDone={onDone} />
    </div>
  )
}
