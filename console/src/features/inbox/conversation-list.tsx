/** Conversations and their queries. */
import { Button, Group, Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { unwrap, own, problemOf, v1 } from '../../api/client.ts'
import type { components, operations } from '../../api/generated/own.ts'
import { useDisabledReason, useRequiredSession } from '../../api/session.ts'
import { type ApiMutation, useApiMutation } from '../../api/use-action.ts'
import { useApiQuery, useInvalidate } from '../../api/use-api-query.ts'
import { pathTo, useWorkspace } from '../../app/paths.ts'
import { useChannels } from '../../components/content/use-channels.ts'
import { ProblemAlert } from '../../components/feedback/alerts.tsx'
import { EmptyState, LoadingIndicator } from '../../components/feedback/screen.tsx'
import { ActionButton } from '../../components/form/action-button.tsx'
import { StatusLabel } from '../../components/format/facts.tsx'
import { useShortTimeFormat } from '../../components/format/intl.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { type ListPage, Pager } from '../../components/table/list-table.tsx'
import { humanize, text } from '../../text/en.ts'
import type { ConversationFilter } from './inbox-screen.tsx'

interface ConversationListProps {
  readonly shown: ConversationFilter
  readonly query: UseQueryResult<ListPage<Conversation>>
  readonly onTried: () => void
}

export function ConversationList({ shown, query, onTried }: ConversationListProps) {
  if (query.isPending) return <LoadingIndicator />
  if (query.data === undefined)
    return <ProblemAlert problem={problemOf(query.error)} onRetry={() => void query.refetch()} />
  const { data } = query.data
  if (data.length === 0 && shown.filters.isFiltered)
    return (
      <EmptyState why={text.list.noMatch} action={<Button onClick={shown.filters.clear}>{text.list.clear}</Button>} />
    )
  if (data.length === 0) return <EmptyState why={text.inbox.empty} action={<First onTried={onTried} />} />
  return (
    <div aria-busy={query.isPlaceholderData}>
      {query.isError && <ProblemAlert problem={problemOf(query.error)} onRetry={() => void query.refetch()} />}
      <ul className="conversations" aria-label={text.inbox.conversations}>
        {data.map((conversation) => (
          <Row key={conversation.id} conversation={conversation} shown={shown} />
        ))}
      </ul>
      <Pager page={query.data} />
    </div>
  )
}

function Row({ conversation, shown }: { conversation: Conversation; shown: ConversationFilter }) {
  const workspace = useWorkspace()
  const time = useShortTimeFormat()
  const { user } = useRequiredSession()
  const { all } = useChannels(workspace)
  const { id, channel_id, assignee, assignee_name, read, last_message_at, last_message_text, last_message_type } =
    conversation
  const channel = all.find((one) => one.id === channel_id)
  const words = text.inbox
  return (
    <li className="conversation" data-current={shown.open === id || undefined}>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <PathLink
          to={pathTo(workspace, 'inbox')}
          search={shown.searchFor(id)}
          underline="never"
          fw={read ? 400 : 700}
          className="conversation-link"
          aria-current={shown.open === id ? 'true' : undefined}
          data-conversation={id}
        >
          <bdi>{nameOf(conversation)}</bdi>
        </PathLink>
        {!read && (
          <Text component="span" size="sm">
            <StatusLabel kind="busy">{words.unread}</StatusLabel>
          </Text>
        )}
      </Group>
      <Text size="sm" dir="auto" lineClamp={1}>
        {last_message_text ?? (last_message_type === null ? '' : humanize(last_message_type))}
      </Text>
      <Text size="xs" c="dimmed">
        {[
          channel?.name ?? channel_id,
          time(last_message_at),
          assignee === user.id ? words.yours : (assignee_name ?? ''),
        ]
          .filter((part) => part !== '')
          .join(' · ')}
      </Text>
    </li>
  )
}

function First({ onTried }: { onTried: () => void }) {
  const workspace = useWorkspace()
  const invalidate = useInvalidate(workspace)
  const disabledReason = useDisabledReason(workspace)('messages:write')
  const { all } = useChannels(workspace)
  const words = text.inbox
  const arrive = useApiMutation(
    (channel: string, key) =>
      unwrap(
        v1(workspace).POST('/v1/test/inbound_messages', {
          body: { channel, from: testPhone, type: 'text', text: { body: words.testText } },
          headers: { 'Idempotency-Key': key },
        }),
      ),
    async () => {
      await invalidate('conversations.')
      onTried()
    },
  )
  const channel = all.find(({ capabilities }) => capabilities.includes('template')) ?? all[0]
  if (workspace.mode === 'live') return <PathLink to={pathTo(workspace, 'channels')}>{words.connect}</PathLink>
  return (
    <>
      {arrive.problem !== undefined && <ProblemAlert problem={arrive.problem} />}
      {channel !== undefined && (
        <ActionButton
          label={words.tryIt}
          disabledReason={disabledReason}
          loading={arrive.isRunning}
          onPress={() => arrive.run(channel.id)}
        />
      )}
    </>
  )
}

const testPhone = '+15005550006'

export type Conversation = components['schemas']['Conversation']
export type Message =
  operations['conversations.list_messages']['responses'][200]['content']['application/json']['data'][number]
type Change = components['schemas']['ConversationUpdate']

export const nameOf = ({ contact_name, identifier }: Conversation): string => contact_name ?? identifier

export function useConversation(id: string | undefined): UseQueryResult<Conversation> {
  const workspace = useWorkspace()
  return useApiQuery(
    workspace,
    ['conversations.retrieve', id],
    () => own(workspace).GET('/console/api/conversations/{id}', { params: { path: { id: id ?? '' } } }),
    id !== undefined,
  )
}

export function useChange(
  id: string,
  onDone: (change: Change) => void = () => undefined,
): ApiMutation<Change> & { readonly disabledReason: string | undefined } {
  const workspace = useWorkspace()
  const invalidate = useInvalidate(workspace)
  const disabledReason = useDisabledReason(workspace)('messages:write')
  const change = useApiMutation(
    (body: Change) =>
      unwrap(own(workspace).PATCH('/console/api/conversations/{id}', { params: { path: { id } }, body })),
    async (_changed, given) => {
      await invalidate('conversations.list', 'conversations.retrieve')
      onDone(given)
    },
  )
  return { ...change, disabledReason }
}
