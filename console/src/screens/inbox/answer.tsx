/** How a conversation is answered: by a reply, or by a template once its service window is closed. */
import { Text } from '@mantine/core'
import { text } from '../../text/en.ts'
import type { Conversation } from './conversation.ts'
import { ReplyForm } from './reply-form.tsx'
import { SendTemplate } from './send-template.tsx'
import { useWindow } from './use-window.ts'

export function Answer({ conversation, onDone }: { conversation: Conversation; onDone: (done: string) => void }) {
  const { isClosed } = useWindow(conversation.window_expires_at)
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
