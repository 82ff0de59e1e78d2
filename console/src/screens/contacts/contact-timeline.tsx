/** What has passed between a contact and the account, newest first: what was sent to it, and what it wrote. */
import { List, Text } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { answered, own, v1 } from '../../api/client.ts'
import { problemOf } from '../../api/problem.ts'
import type { components } from '../../api/generated/v1.ts'
import { useRead } from '../../api/use-read.ts'
import { PathLink } from '../../parts/path-link.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { Waiting } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { useTime } from '../../parts/times.ts'
import { usePlace } from '../../parts/use-place.ts'
import { pathTo } from '../../paths.ts'
import { inWords, text } from '../../text/en.ts'
import type { Contact } from './contact.ts'

type Message = components['schemas']['Message']

const rowsMax = 20
/** Of the contact that are read: it has one a channel. */
const conversationsMax = 10

export function ContactTimeline({ contact }: { contact: Contact }) {
  const place = usePlace()
  const time = useTime()
  const { messages, conversation, isPending, error, again } = useTimeline(contact)
  const words = text.contacts
  if (isPending) return <Waiting />
  if (error !== null) return <ProblemAlert problem={problemOf(error)} onAgain={again} />
  if (messages.length === 0) return <Text c="dimmed">{words.nothingYet}</Text>
  return (
    <>
      <List listStyleType="none" spacing="xs">
        {messages.map(({ id, status, type, channel_type, created_at }) => (
          <List.Item key={id}>
            <PathLink to={pathTo(place, 'messages', id)}>{`${inWords(channel_type)} · ${inWords(type)}`}</PathLink>{' '}
            <Status status={status} />{' '}
            <Text span size="sm" c="dimmed">
              {time(created_at)}
            </Text>
          </List.Item>
        ))}
      </List>
      {conversation !== undefined && (
        <Text mt="sm" size="sm">
          <PathLink to={pathTo(place, 'inbox')} search={{ conversation: conversation.id }}>
            {words.answer}
          </PathLink>
        </Text>
      )}
    </>
  )
}

/** What was sent to its first address, and what its conversations hold. */
function useTimeline({ id, phone, identifiers }: Contact) {
  const place = usePlace()
  const to = phone ?? Object.values(identifiers)[0]
  const sent = useRead(
    place,
    ['messages.list', { to, limit: rowsMax }],
    () => v1(place).GET('/v1/messages', { params: { query: { to, limit: rowsMax } as never } }),
    to !== undefined,
  )
  const found = useRead(place, ['conversations.list', { contact: id, limit: conversationsMax }], () =>
    own(place).GET('/console/api/conversations', { params: { query: { contact: id, limit: conversationsMax } } }),
  )
  const conversations = useQueries({
    queries: (found.data?.data ?? []).map((conversation) => ({
      queryKey: [place.account, place.mode, 'conversations.list_messages', conversation.id, rowsMax],
      queryFn: () =>
        answered(
          own(place).GET('/console/api/conversations/{id}/messages', {
            params: { path: { id: conversation.id }, query: { limit: rowsMax } },
          }),
        ),
    })),
  })
  const reads = [...(to === undefined ? [] : [sent]), found, ...conversations]
  const byId = new Map<string, Message>(
    [sent, ...conversations].flatMap(({ data }) => data?.data ?? []).map((message) => [message.id, message]),
  )
  const newestFirst = (one: Message, other: Message) => (one.id < other.id ? 1 : -1)
  return {
    messages: [...byId.values()].toSorted(newestFirst).slice(0, rowsMax),
    /** In which something came in last. */
    conversation: found.data?.data[0],
    isPending: reads.some((read) => read.isPending),
    // what was read before stays where a later try fails
    error: reads.find((read) => read.isError && read.data === undefined)?.error ?? null,
    again: () => reads.filter((read) => read.isError).forEach((read) => void read.refetch()),
  }
}
