/** One conversation. */
import { Box, Button, Group, Stack, Text, Title } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useId, useLayoutEffect, useRef, useState } from 'react'
import { unwrap, own, problemOf, v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { useRequiredSession } from '../../api/session.ts'
import { useApiQuery } from '../../api/use-api-query.ts'
import { pathTo, type Query, useWorkspace } from '../../app/paths.ts'
import { Bubble } from '../../components/content/bubble.tsx'
import { useChannels } from '../../components/content/use-channels.ts'
import { SuccessNotice, ProblemAlert } from '../../components/feedback/alerts.tsx'
import { LoadingIndicator } from '../../components/feedback/screen.tsx'
import { ActionButton } from '../../components/form/action-button.tsx'
import { DescriptionList, Region, Status, statusSentence } from '../../components/format/facts.tsx'
import { useShortTimeFormat, useTimeFormat } from '../../components/format/intl.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { humanize, text } from '../../text/en.ts'
import { type Conversation, type Message, nameOf, useChange, useConversation } from './conversation-list.tsx'
import { ReplyArea } from './reply-form.tsx'

export function ConversationPane({ id, back }: { id: string; back: Query }) {
  const workspace = useWorkspace()
  const conversation = useConversation(id)
  return (
    <div className="inbox-pane">
      <PathLink to={pathTo(workspace, 'inbox')} search={back} className="narrow-only">
        {text.inbox.back}
      </PathLink>
      {conversation.isPending && <LoadingIndicator />}
      {conversation.isError && (
        <ProblemAlert problem={problemOf(conversation.error)} onRetry={() => void conversation.refetch()} />
      )}
      {conversation.data !== undefined && <OpenConversation conversation={conversation.data} />}
    </div>
  )
}

function OpenConversation({ conversation }: { conversation: Conversation }) {
  const [done, setDone] = useState('')
  const heading = useFocusWhenChosen()
  const { minutes, isClosed } = useWindow(conversation.window_expires_at)
  useMarkedRead(conversation)
  return (
    <div className="inbox-read">
      <Stack gap="sm" miw={0}>
        <Group justify="space-between" gap="xs">
          <Title order={2} size="h4" ref={heading} tabIndex={-1} dir="auto">
            {nameOf(conversation)}
          </Title>
          <ServiceWindow minutes={minutes} />
        </Group>
        <ConversationActions conversation={conversation} onDone={setDone} />
        <SuccessNotice text={done} />
        <MessageLog conversation={conversation} />
        <ReplyArea conversation={conversation} isClosed={isClosed} onDone={setDone} />
      </Stack>
      <ContactRegion conversation={conversation} />
    </div>
  )
}

function ConversationActions({
  conversation: { id, status, assignee, assignee_name },
  onDone,
}: {
  conversation: Conversation
  onDone: (done: string) => void
}) {
  const { user } = useRequiredSession()
  const words = text.inbox
  const change = useChange(id, ({ status: to, assignee: whose }) => {
    if (to !== undefined) onDone(to === 'done' ? words.isDone : words.isOpen)
    if (whose !== undefined) onDone(whose === null ? words.released : words.assigned)
  })
  const isMine = assignee === user.id
  return (
    <>
      <Group gap="xs">
        <ActionButton
          label={status === 'open' ? words.markDone : words.reopen}
          variant="default"
          size="xs"
          disabledReason={change.disabledReason}
          onPress={() => change.run({ status: status === 'open' ? 'done' : 'open' })}
        />
        <ActionButton
          label={isMine ? words.unassign : words.assign}
          variant="default"
          size="xs"
          disabledReason={change.disabledReason}
          onPress={() => change.run({ assignee: isMine ? null : user.id })}
        />
        <Text size="sm" c="dimmed" dir="auto">
          {assignee === null
            ? words.unassigned
            : isMine
              ? words.assignedToYou
              : words.assignedTo(assignee_name ?? assignee)}
        </Text>
      </Group>
      {change.problem !== undefined && <ProblemAlert problem={change.problem} />}
    </>
  )
}

/** Unless the person may not reply or acts for somebody else. */
function useMarkedRead({ id, read, last_message_at }: Conversation): void {
  const { impersonating } = useRequiredSession()
  const { run, disabledReason } = useChange(id)
  const isDue = !read && disabledReason === undefined && impersonating === null
  const mark = useEffectEvent((_upTo: string) => run({ read: true }))
  useEffect(() => {
    if (isDue) mark(last_message_at)
  }, [isDue, last_message_at])
}

/** On first load the h1 keeps the focus. */
function useFocusWhenChosen() {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    const { activeElement } = document
    if (activeElement?.closest('.inbox-list') !== null || activeElement === document.body) heading.current?.focus()
  }, [])
  return heading
}

const pageMessages = 30

function MessageLog({ conversation }: { conversation: Conversation }) {
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
      {pages.isPending && <LoadingIndicator />}
      {pages.isError && <ProblemAlert problem={problemOf(pages.error)} onRetry={() => void pages.refetch()} />}
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
        <MessageItem key={message.id} message={message} who={nameOf(conversation)} />
      ))}
    </Box>
  )
}

function useMessages({ id }: Conversation) {
  const workspace = useWorkspace()
  return useInfiniteQuery({
    queryKey: [workspace.account, workspace.mode, 'conversations.list_messages', id],
    queryFn: ({ pageParam }) =>
      unwrap(
        own(workspace).GET('/console/api/conversations/{id}/messages', {
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

function MessageItem({ message, who }: { message: Message; who: string }) {
  const workspace = useWorkspace()
  const time = useTimeFormat()
  const shortTime = useShortTimeFormat()
  const { id, type, content, status, direction, origin, created_at } = message
  const isOurs = direction === 'outbound'
  const words = text.inbox
  return (
    <div className="said" data-ours={isOurs || undefined}>
      <Bubble type={type} content={content} isOurs={isOurs} />
      <Text size="xs" c="dimmed" component="div" className="said-about">
        <bdi>{isOurs ? (words.by[origin.type] ?? humanize(origin.type)) : who}</bdi>
        <PathLink to={pathTo(workspace, 'messages', id)} size="xs">
          {shortTime(created_at)}
        </PathLink>
        {isOurs && <Status status={status} />}
      </Text>
      {status === 'failed' && (
        <Text size="sm" dir="auto" className="said-why">
          {statusSentence(message, time)}
        </Text>
      )}
    </div>
  )
}

function ServiceWindow({ minutes }: { minutes: number | null }) {
  const label = useId()
  if (minutes === null) return null
  return (
    <Text size="sm" component="div">
      <span id={label}>{text.inbox.window}</span>{' '}
      <Text component="span" role="timer" fw={600} aria-labelledby={label}>
        {wordsOf(minutes)}
      </Text>
    </Text>
  )
}

function wordsOf(minutes: number): string {
  const { closed, underAMinute, left } = text.inbox
  if (minutes < 0) return closed
  return minutes === 0 ? underAMinute : left(Math.floor(minutes / 60), minutes % 60)
}

const tickMs = 1_000
const minuteMs = 60_000

/** Minutes; -1: closed; null: no service window. */
const leftOf = (expires_at: string | null): number | null => {
  if (expires_at === null) return null
  const left = Date.parse(expires_at) - Date.now()
  return left <= 0 ? -1 : Math.floor(left / minuteMs)
}

function useWindow(expires_at: string | null): { readonly minutes: number | null; readonly isClosed: boolean } {
  const [, setMinutes] = useState(() => leftOf(expires_at))
  useEffect(() => {
    const timer = setInterval(() => setMinutes(leftOf(expires_at)), tickMs)
    return () => clearInterval(timer)
  }, [expires_at])
  const minutes = leftOf(expires_at)
  return { minutes, isClosed: minutes === -1 }
}

function ContactRegion({ conversation }: { conversation: Conversation }) {
  const workspace = useWorkspace()
  const time = useTimeFormat()
  const { contact_id, channel_id, identifier } = conversation
  const contact = useApiQuery(
    workspace,
    ['contacts.retrieve', contact_id],
    () => v1(workspace).GET('/v1/contacts/{id}', { params: { path: { id: contact_id ?? '' } } }),
    contact_id !== null,
  )
  const channel = useChannels(workspace).all.find(({ id }) => id === channel_id)
  const { facts, contact: title, noContact } = text.inbox
  return (
    <Region title={title}>
      {contact_id === null ? (
        <Text size="sm" c="dimmed">
          {noContact}
        </Text>
      ) : (
        <PathLink to={pathTo(workspace, 'contacts', contact_id)}>
          <bdi>{nameOf(conversation)}</bdi>
        </PathLink>
      )}
      <DescriptionList
        of={[
          [facts.channel, channel === undefined ? channel_id : channel.name],
          [facts.address, nameOf(conversation) === identifier ? null : identifier],
          ...(contact.data === undefined ? [] : factsOf(contact.data, identifier, channel?.type, time)),
        ]}
      />
    </Region>
  )
}

function factsOf(
  { phone, email, consent, blocked, tags, last_seen_at }: Contact,
  identifier: string,
  channelType: string | undefined,
  time: (instant: string) => string,
) {
  const { facts, consents, blockedYes } = text.inbox
  const status = (channelType === undefined ? undefined : consent[channelType]?.status) ?? 'unknown'
  return [
    [facts.phone, phone === identifier ? null : phone],
    [facts.email, email],
    [facts.consent, consents[status] ?? humanize(status)],
    [facts.blocked, blocked ? blockedYes : null],
    [facts.tags, tags.length === 0 ? null : tags.join(', ')],
    [facts.seen, last_seen_at === null ? null : time(last_seen_at)],
  ] as const
}

type Contact = components['schemas']['Contact']
