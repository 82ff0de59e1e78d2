/** The inbox: list and conversation, on phones one at a time. */
import { Text } from '@mantine/core'
import { useLocation, useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { own } from '../../api/client.ts'
import { useRequiredSession } from '../../api/session.ts'
import { listQuery, useApiQuery } from '../../api/use-api-query.ts'
import { type Query, useWorkspace } from '../../app/paths.ts'
import { SuccessNotice } from '../../components/feedback/alerts.tsx'
import { ApiButton, type ApiRequest } from '../../components/feedback/api-button.tsx'
import { Screen } from '../../components/feedback/screen.tsx'
import { ChoiceField } from '../../components/form/fields.tsx'
import { type Filters, useFilters } from '../../components/table/filters.tsx'
import { text } from '../../text/en.ts'
import { ConversationList, useConversation } from './conversation-list.tsx'
import { ConversationPane } from './conversation-pane.tsx'
import { replyRequest } from './reply-form.tsx'

const choices = (['open', 'mine', 'done'] as const).map((value) => ({ value, label: text.inbox.shown[value] }))
const incoming: ApiRequest = {
  operation: 'messages.list',
  method: 'GET',
  path: '/v1/messages?direction=inbound&limit=50',
}

export function InboxScreen() {
  const workspace = useWorkspace()
  const shown = useConversationFilter()
  const [done, setDone] = useState('')
  const conversations = useApiQuery(workspace, ['conversations.list', shown.query], () =>
    own(workspace).GET('/console/api/conversations', { params: { query: listQuery(shown.query) } }),
  )
  const read = useConversation(shown.open)
  const request =
    shown.open === undefined || read.isPlaceholderData || read.data === undefined ? incoming : replyRequest(read.data)
  const list = useFocusOnReturn(shown.open)
  const words = text.inbox
  return (
    <Screen title={text.screens.inbox} mode={workspace.mode} actions={<ApiButton request={request} />}>
      <SuccessNotice text={done} />
      <div className="inbox" data-open={shown.open !== undefined || undefined}>
        <div className="inbox-list" ref={list}>
          <ChoiceField
            label={words.show}
            choices={choices}
            value={shown.show}
            onChange={(show) => shown.choose(show as ConversationFilterName)}
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

export type ConversationFilterName = 'open' | 'mine' | 'done'

export interface ConversationFilter {
  readonly show: ConversationFilterName
  readonly choose: (show: ConversationFilterName) => void
  readonly filters: Filters
  readonly query: Query
  readonly open: string | undefined
  readonly searchFor: (id: string | undefined) => Query
}

function useConversationFilter(): ConversationFilter {
  const { user } = useRequiredSession()
  const navigate = useNavigate()
  const search = useLocation().search as Query
  const filters = useFilters(['status', 'assignee'])
  const { status, assignee } = filters.query
  const show = assignee === user.id ? 'mine' : status === 'done' ? 'done' : 'open'
  const asked: Record<ConversationFilterName, Query> = {
    open: {},
    mine: { assignee: user.id },
    done: { status: 'done' },
  }
  const { conversation: open, ...list } = search
  return {
    show,
    choose: (next) => void navigate({ to: '.', search: asked[next] as never, replace: true }),
    filters,
    query: { status: 'open', ...filters.query },
    open: open === '' ? undefined : open,
    searchFor: (id) => (id === undefined ? list : { ...list, conversation: id }),
  }
}
