/** The messages of a conversation, the newest at the end, with what became of those that were sent. */
import { Box, Button, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useLayoutEffect, useRef } from 'react'
import { answered, own } from '../../api/client.ts'
import { problemOf } from '../../api/problem.ts'
import { Bubble } from '../../parts/bubble.tsx'
import { PathLink } from '../../parts/path-link.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { Waiting } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { useShortTime, useTime } from '../../parts/times.ts'
import { usePlace } from '../../parts/use-place.ts'
import { pathTo } from '../../paths.ts'
import { inWords, text } from '../../text/en.ts'
import { whyOf } from '../messages/why.ts'
import { nameOf, type Conversation, type Message } from './conversation.ts'

const pageMessages = 30

export function MessageLog({ conversation }: { conversation: Conversation }) {
  const pages = useMessages(conversation)
  const messages = (pages.data?.pages ?? []).flatMap(({ data }) => data).toReversed()
  const newest = messages.at(-1)?.id
  const log = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (log.current !== null && newest !== undefined) log.current.scrollTop = log.current.scrollHeight
  }, [newest])
  const words = text.inbox
  return (
    <Box className="log" role="log" aria-label={words.conversation} aria-busy={pages.isPending} tabIndex={0} ref={log}>
      {pages.isPending && <Waiting />}
      {pages.isError && <ProblemAlert problem={problemOf(pages.error)} onAgain={() => void pages.refetch()} />}
      {pages.hasNextPage && (
        <Button
          variant="default"
          size="xs"
          loading={pages.isFetchingNextPage}
          onClick={() => void pages.fetchNextPage()}
        >
          {words.older}
        </Button>
      )}
      {pages.isSuccess && messages.length === 0 && <Text c="dimmed">{words.noMessages}</Text>}
      {messages.map((message) => (
        <Said key={message.id} message={message} who={nameOf(conversation)} />
      ))}
    </Box>
  )
}

function useMessages({ id }: Conversation) {
  const place = usePlace()
  return useInfiniteQuery({
    queryKey: [place.account, place.mode, 'conversations.list_messages', id],
    queryFn: ({ pageParam }) =>
      answered(
        own(place).GET('/console/api/conversations/{id}/messages', {
          params: {
            path: { id },
            query: { limit: pageMessages, ...(pageParam === '' ? {} : { starting_after: pageParam }) },
          },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ has_more, next_cursor }) => (has_more ? next_cursor : null),
  })
}

function Said({ message, who }: { message: Message; who: string }) {
  const place = usePlace()
  const time = useTime()
  const shortTime = useShortTime()
  const { id, type, content, status, direction, origin, created_at } = message
  const isOurs = direction === 'outbound'
  const words = text.inbox
  return (
    <div className="said" data-ours={isOurs || undefined}>
      <Bubble type={type} content={content} isOurs={isOurs} />
      <Text size="xs" c="dimmed" component="div" className="said-about">
        <bdi>{isOurs ? (words.by[origin.type] ?? inWords(origin.type)) : who}</bdi>
        <PathLink to={pathTo(place, 'messages', id)} size="xs">
          {shortTime(created_at)}
        </PathLink>
        {isOurs && <Status status={status} />}
      </Text>
      {status === 'failed' && (
        <Text size="sm" dir="auto" className="said-why">
          {whyOf(message, time)}
        </Text>
      )}
    </div>
  )
}
