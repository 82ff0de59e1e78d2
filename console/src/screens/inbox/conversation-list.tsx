/** The conversations: who, on which channel, how the last message begins, and whether somebody has read it. */
import { Button, Group, Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { answered, v1 } from '../../api/client.ts'
import { useBecause } from '../../api/may.ts'
import { problemOf } from '../../api/problem.ts'
import { useOwnSession } from '../../api/session.ts'
import { useAction } from '../../api/use-action.ts'
import { useStale } from '../../api/use-stale.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Pager, type ListPage } from '../../parts/list-table.tsx'
import { Mark } from '../../parts/mark.tsx'
import { PathLink } from '../../parts/path-link.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { Empty, Waiting } from '../../parts/states.tsx'
import { useShortTime } from '../../parts/times.ts'
import { useChannels } from '../../parts/use-channels.ts'
import { usePlace } from '../../parts/use-place.ts'
import { pathTo } from '../../paths.ts'
import { inWords, text } from '../../text/en.ts'
import { nameOf, type Conversation } from './conversation.ts'
import type { Shown } from './use-show.ts'

export interface ConversationListProps {
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
