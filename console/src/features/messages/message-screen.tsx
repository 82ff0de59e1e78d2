/** One message. */
import { Code, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import { useLocation, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { unwrap, v1 } from '../../api/client.ts'
import { cancellableStatuses } from '../../api/generated/tables.ts'
import type { components } from '../../api/generated/v1.ts'
import { isAllowed, useDisabledReason, useRequiredSession } from '../../api/session.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { useApiQuery, useInvalidate } from '../../api/use-api-query.ts'
import { pathTo, useWorkspace } from '../../app/paths.ts'
import { Bubble } from '../../components/content/bubble.tsx'
import { SuccessNotice, ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ApiButton } from '../../components/feedback/api-button.tsx'
import { QueryScreen, Screen } from '../../components/feedback/screen.tsx'
import { ActionButton } from '../../components/form/action-button.tsx'
import { useStoredIdempotencyKeys } from '../../components/form/use-draft.ts'
import { DescriptionList, type Message, Region, Status, statusSentence } from '../../components/format/facts.tsx'
import { formatDollars, useTimeFormat } from '../../components/format/intl.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { humanize, text } from '../../text/en.ts'
import { Attempts, MessageDeliveries, Timeline } from './message-history.tsx'

declare module '@tanstack/react-router' {
  interface HistoryState {
    done?: string
  }
}
type Body = components['schemas']['SendMessage']

export function MessageScreen() {
  const workspace = useWorkspace()
  const { id } = useParams({ strict: false }) as { id: string }
  const message = useApiQuery(workspace, ['messages.retrieve', id], () =>
    v1(workspace).GET('/v1/messages/{id}', { params: { path: { id } } }),
  )
  return (
    <QueryScreen title={text.messages.title} query={message}>
      {(shown) => <Shown key={id} message={shown} />}
    </QueryScreen>
  )
}

function Shown({ message }: { message: Message }) {
  const workspace = useWorkspace()
  const { mode } = workspace
  const mayReadDeliveries = isAllowed(useRequiredSession(), workspace, 'webhooks:read')
  const { done: uploadNotice = '' } = useLocation().state
  const [done, setDone] = useState(uploadNotice)
  const words = text.messages
  const { again, cancel, disabledReason } = useActions(message, setDone)
  const problem = again.problem ?? cancel.problem
  return (
    <Screen
      title={words.title}
      mode={mode}
      actions={
        <>
          <ApiButton request={{ operation: 'messages.retrieve', method: 'GET', path: `/v1/messages/${message.id}` }} />
          <ActionButton
            label={words.sendAgain}
            variant="default"
            loading={again.isRunning}
            disabledReason={disabledReason.again}
            onPress={() => again.run(bodyOf(message))}
          />
          <ActionButton
            label={words.cancel}
            variant="default"
            loading={cancel.isRunning}
            disabledReason={disabledReason.cancel}
            onPress={() => cancel.run(message.id)}
          />
        </>
      }
    >
      <Stack>
        <SuccessNotice text={done} />
        {problem !== undefined && <ProblemAlert problem={problem} />}
        <SimpleGrid cols={{ base: 1, md: 2 }}>
          <Region title={words.status}>
            <Why message={message} />
            <MessageFacts message={message} />
          </Region>
          <Region title={words.preview}>
            <Group justify={message.direction === 'outbound' ? 'flex-end' : 'flex-start'}>
              <Bubble type={message.type} content={message.content} isOurs={message.direction === 'outbound'} />
            </Group>
          </Region>
          <Region title={words.timeline}>
            <Timeline id={message.id} />
          </Region>
          <Region title={words.cost}>
            <Cost message={message} />
          </Region>
        </SimpleGrid>
        <Attempts id={message.id} />
        {mayReadDeliveries && <MessageDeliveries id={message.id} />}
      </Stack>
    </Screen>
  )
}

function useActions(message: Message, onDone: (done: string) => void) {
  const workspace = useWorkspace()
  const navigate = useNavigate()
  const invalidate = useInvalidate(workspace)
  const disabledReason = useDisabledReason(workspace)('messages:write')
  const again = useApiMutation(
    (body: Body, key) => unwrap(v1(workspace).POST('/v1/messages', { body, headers: { 'Idempotency-Key': key } })),
    async ({ id }) => {
      await invalidate('messages.')
      await navigate({ to: pathTo(workspace, 'messages', id) as never, state: { done: text.messages.sentAgain } })
    },
    useStoredIdempotencyKeys(workspace, `send again ${message.id}`),
  )
  const cancel = useApiMutation(
    (id: string, key) =>
      unwrap(
        v1(workspace).POST('/v1/messages/{id}/cancel', {
          params: { path: { id } },
          headers: { 'Idempotency-Key': key },
        }),
      ),
    async () => {
      await invalidate('messages.')
      onDone(text.messages.cancelled)
    },
  )
  const isCancellable = (cancellableStatuses as readonly string[]).includes(message.status)
  return {
    again,
    cancel,
    disabledReason: {
      again: disabledReason ?? (message.direction === 'outbound' ? undefined : text.messages.onlyOutbound),
      cancel: disabledReason ?? (isCancellable ? undefined : text.messages.onlyQueued),
    },
  }
}

function bodyOf({ channel_id, to, type, content, reference, metadata, reply_to, priority }: Message): Body {
  return { channel: channel_id, to, type, ...content, reference, metadata, reply_to, priority } as Body
}

export function Why({ message }: { message: Message }) {
  const time = useTimeFormat()
  return (
    <Stack gap="xs" mb="md">
      <div>
        <Status status={message.status} />
      </div>
      <Text dir="auto">{statusSentence(message, time)}</Text>
    </Stack>
  )
}

function MessageFacts({ message }: { message: Message }) {
  const workspace = useWorkspace()
  const time = useTimeFormat()
  const { facts, origin, parts } = text.messages
  const { contact_id, reply_to, segments, metadata } = message
  return (
    <DescriptionList
      of={[
        [facts.id, <Code key="id">{message.id}</Code>],
        [facts.to, message.to],
        [facts.from, message.from],
        [facts.channel, `${humanize(message.channel_type)} · ${message.channel_id}`],
        [
          facts.contact,
          contact_id === null ? null : (
            <PathLink key="contact" to={pathTo(workspace, 'contacts', contact_id)}>
              {contact_id}
            </PathLink>
          ),
        ],
        [facts.reference, message.reference],
        [facts.origin, origin(humanize(message.origin.type), message.origin.id)],
        [
          facts.replyTo,
          reply_to === null ? null : (
            <PathLink key="reply" to={pathTo(workspace, 'messages', reply_to)}>
              {reply_to}
            </PathLink>
          ),
        ],
        [facts.sendAt, message.send_at === null ? null : time(message.send_at)],
        [facts.expiresAt, message.expires_at === null ? null : time(message.expires_at)],
        [facts.priority, humanize(message.priority)],
        [facts.parts, segments === null ? null : parts(segments, message.encoding)],
        [
          facts.metadata,
          Object.keys(metadata).length === 0 ? null : <Code key="metadata">{JSON.stringify(metadata)}</Code>,
        ],
      ]}
    />
  )
}

export function Cost({ message: { billing } }: { message: Message }) {
  const { costs, paidBy, yes, no } = text.messages
  return (
    <DescriptionList
      of={[
        [costs.paidBy, paidBy[billing.source as keyof typeof paidBy] ?? humanize(billing.source)],
        [costs.amount, formatDollars(billing.amount_micros)],
        [costs.permission, billing.package_grant_id],
        [costs.refunded, billing.refunded ? yes : no],
      ]}
    />
  )
}
