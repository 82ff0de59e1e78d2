/** What people write, conversation by conversation: the list beside the one that is read. On a phone these are two steps. */
import { Text } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { own } from '../../api/client.ts'
import { listQuery, useRead } from '../../api/use-read.ts'
import { ApiButton, type ApiRequest } from '../../parts/api-button.tsx'
import { Done } from '../../parts/done.tsx'
import { ChoiceField } from '../../parts/fields.tsx'
import { Screen } from '../../parts/screen.tsx'
import { usePlace } from '../../parts/use-place.ts'
import { text } from '../../text/en.ts'
import { ConversationList } from './conversation-list.tsx'
import { ConversationPane } from './conversation-pane.tsx'
import { useConversation } from './conversation.ts'
import { replyRequest } from './use-send.ts'
import { useShow, type Show } from './use-show.ts'

const choices = (['open', 'mine', 'done'] as const).map((value) => ({ value, label: text.inbox.shown[value] }))
const incoming: ApiRequest = {
  operation: 'messages.list',
  method: 'GET',
  path: '/v1/messages?direction=inbound&limit=50',
}

export function InboxScreen() {
  const place = usePlace()
  const shown = useShow()
  const [done, setDone] = useState('')
  const conversations = useRead(place, ['conversations.list', shown.query], () =>
    own(place).GET('/console/api/conversations', { params: { query: listQuery(shown.query) } }),
  )
  const read = useConversation(shown.open)
  const request =
    shown.open === undefined || read.isPlaceholderData || read.data === undefined ? incoming : replyRequest(read.data)
  const list = useFocusOnReturn(shown.open)
  const words = text.inbox
  return (
    <Screen title={text.screens.inbox} mode={place.mode} actions={<ApiButton request={request} />}>
      <Done text={done} />
      <div className="inbox" data-open={shown.open !== undefined || undefined}>
        <div className="inbox-list" ref={list}>
          <ChoiceField
            label={words.show}
            choices={choices}
            value={shown.show}
            onChange={(show) => shown.choose(show as Show)}
          />
          <ConversationList shown={shown} query={conversations} onTried={() => setDone(words.tried)} />
        </div>
        {shown.open === undefined ? (
          <Text className="inbox-none wide-only" c="dimmed">
            {words.choose}
          </Text>
        ) : (
          <ConversationPane key={shown.open} id={shown.open} back={shown.searchFor(undefined)} />
        )}
      </div>
    </Screen>
  )
}

/** Where the way back from a conversation leads, its link in the list has the focus again. */
function useFocusOnReturn(open: string | undefined) {
  const list = useRef<HTMLDivElement>(null)
  const before = useRef(open)
  useEffect(() => {
    const left = before.current
    before.current = open
    if (open === undefined && left !== undefined)
      list.current?.querySelector<HTMLElement>(`[data-conversation="${CSS.escape(left)}"]`)?.focus()
  }, [open])
  return list
}
