/** The conversations: who, on which channel, how the last message begins, and whether somebody has read it. */
import { Button, Group, Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { answered, own, problemOf, v1 } from '../../api/client.ts'
import type { components, operations } from '../../api/generated/own.ts'
import { useBecause, useOwnSession } from '../../api/session.ts'
import { type Action, useAction } from '../../api/use-action.ts'
import { useRead, useStale } from '../../api/use-api-query.ts'
import { pathTo, usePlace } from '../../app/paths.ts'
import { useChannels } from '../../components/content/use-channels.ts'
import { ProblemAlert } from '../../components/feedback/alerts.tsx'
import { Empty, Waiting } from '../../components/feedback/screen.tsx'
import { ActionButton } from '../../components/form/action-button.tsx'
import { Mark } from '../../components/format/facts.tsx'
import { useShortTime } from '../../components/format/intl.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { type ListPage, Pager } from '../../components/table/list-table.tsx'
import { inWords, text } from '../../text/en.ts'
import type { Shown } from './inbox-screen.tsx'

interface ConversationListProps {
  readonly shown: Shown
  readonly query: UseQueryResult<ListPage<Conversation>>
  readonly onTried: () => void
}

export function ConversationList({ shown, query, onTried }: ConversationListProps) {
  if (query.isPending) return <Waiting />
  if (query.data === undefined)
    return <ProblemAlert problem={problemOf(query.error)} onAgain={() => void query.refetch()} />
  const { data } = query.data
  if (data.length === 0 && shown.filters.isFiltered)
    return <Empty why={text.list.noMatch} action={<Button onClick={shown.filters.clear}>{text.list.clear}</Button>} />
  if (data.length === 0) return <Empty why={text.inbox.empty} action={<First onTried={onTried} />} />
  return (
    <div aria-busy={query.isPlaceholderData}>
      {query.isError && <ProblemAlert problem={problemOf(query.error)} onAgain={() => void query.refetch()} />}
      <ul className="conversations" aria-label={text.inbox.conversations}>
        {data.map((conversation) => (
          <Row key={conversation.id} conversation={conversation} shown={shown} />
        ))}
      </ul>
      <Pager page={query.data} />
    </div>
  )
}

function Row({ conversation, shown }: { conversation: Conversation; shown: Shown }) {
  const place = usePlace()
  const time = useShortTime()
  const { user } = useOwnSession()
  const { all } = useChannels(place)
  const { id, channel_id, assignee, assignee_name, read, last_message_at, last_message_text, last_message_type } =
    conversation
  const channel = all.find((one) => one.id === channel_id)
  const words = text.inbox
  return (
    <li className="conversation" data-current={shown.open === id || undefined}>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <PathLink
          to={pathTo(place, 'inbox')}
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
            <Mark kind="busy">{words.unread}</Mark>
          </Text>
        )}
      </Group>
      <Text size="sm" dir="auto" lineClamp={1}>
        {last_message_text ?? (last_message_type === null ? '' : inWords(last_message_type))}
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

/** What one would do while nothing has come in: connect a channel, or in test mode write to oneself. */
function First({ onTried }: { onTried: () => void }) {
  const place = usePlace()
  const stale = useStale(place)
  const because = useBecause(place)('messages:write')
  const { all } = useChannels(place)
  const words = text.inbox
  const arrive = useAction(
    (channel: string, key) =>
      answered(
        v1(place).POST('/v1/test/inbound_messages', {
          body: { channel, from: testPhone, type: 'text', text: { body: words.testText } },
          headers: { 'Idempotency-Key': key },
        }),
      ),
    async () => {
      await stale('conversations.')
      onTried()
    },
  )
  const channel = all.find(({ capabilities }) => capabilities.includes('template')) ?? all[0]
  if (place.mode === 'live') return <PathLink to={pathTo(place, 'channels')}>{words.connect}</PathLink>
  return (
    <>
      {arrive.problem !== undefined && <ProblemAlert problem={arrive.problem} />}
      {channel !== undefined && (
        <ActionButton
          label={words.tryIt}
          because={because}
          loading={arrive.isRunning}
          onPress={() => arrive.run(channel.id)}
        />
      )}
    </>
  )
}

/** Of the sandbox: what is sent to it arrives. */
const testPhone = '+15005550006'

/** Conversations of the inbox, as the screen asks for them and names them. */
export type Conversation = components['schemas']['Conversation']
export type Message =
  operations['conversations.list_messages']['responses'][200]['content']['application/json']['data'][number]
type Change = components['schemas']['ConversationUpdate']

/** What people call who wrote. */
export const nameOf = ({ contact_name, identifier }: Conversation): string => contact_name ?? identifier

/** Nothing is read while none is open. */
export function useConversation(id: string | undefined): UseQueryResult<Conversation> {
  const place = usePlace()
  return useRead(
    place,
    ['conversations.retrieve', id],
    () => own(place).GET('/console/api/conversations/{id}', { params: { path: { id: id ?? '' } } }),
    id !== undefined,
  )
}

/** Changes a conversation, and says why the person may not. */
export function useChange(
  id: string,
  onDone: (change: Change) => void = () => undefined,
): Action<Change> & { readonly because: string | undefined } {
  const place = usePlace()
  const stale = useStale(place)
  const because = useBecause(place)('messages:write')
  const change = useAction(
    (body: Change) => answered(own(place).PATCH('/console/api/conversations/{id}', { params: { path: { id } }, body })),
    async (_changed, given) => {
      await stale('conversations.list', 'conversations.retrieve')
      onDone(given)
    },
  )
  return { ...change, because }
}
