/** A message: where it stands and why, what it shows, what has happened to it, what it cost. */
import { Group, SimpleGrid, Stack } from '@mantine/core'
import { useLocation, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { answered, v1 } from '../../api/client.ts'
import { cancellableStatuses } from '../../api/generated/tables.ts'
import type { components } from '../../api/generated/v1.ts'
import { may, useBecause } from '../../api/may.ts'
import { useOwnSession } from '../../api/session.ts'
import { useAction } from '../../api/use-action.ts'
import { useRead } from '../../api/use-read.ts'
import { useStale } from '../../api/use-stale.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { ApiButton } from '../../parts/api-button.tsx'
import { Bubble } from '../../parts/bubble.tsx'
import { Done } from '../../parts/done.tsx'
import { Region } from '../../parts/facts.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { Screen } from '../../parts/screen.tsx'
import { useAttempt } from '../../parts/use-attempt.ts'
import { usePlace } from '../../parts/use-place.ts'
import { pathTo } from '../../paths.ts'
import { text } from '../../text/en.ts'
import { Attempts, Timeline } from './history.tsx'
import { MessageDeliveries } from './message-deliveries.tsx'
import { Cost, MessageFacts, Why } from './message-facts.tsx'

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** What has succeeded on the screen before, to be told on this one. */
    done?: string
  }
}

type Message = components['schemas']['Message']
type Body = components['schemas']['SendMessage']

export function MessageScreen() {
  const place = usePlace()
  const { id } = useParams({ strict: false }) as { id: string }
  const message = useRead(place, ['messages.retrieve', id], () =>
    v1(place).GET('/v1/messages/{id}', { params: { path: { id } } }),
  )
  return (
    <Loaded title={text.messages.title} query={message}>
      {(shown) => <Shown key={id} message={shown} />}
    </Loaded>
  )
}

function Shown({ message }: { message: Message }) {
  const place = usePlace()
  const { mode } = place
  const mayReadDeliveries = may(useOwnSession(), place, 'webhooks:read')
  const { done: told = '' } = useLocation().state
  const [done, setDone] = useState(told)
  const words = text.messages
  const { again, cancel, because } = useActions(message, setDone)
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
            because={because.again}
            onPress={() => again.run(bodyOf(message))}
          />
          <ActionButton
            label={words.cancel}
            variant="default"
            loading={cancel.isRunning}
            because={because.cancel}
            onPress={() => cancel.run(message.id)}
          />
        </>
      }
    >
      <Stack>
        <Done text={done} />
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

/** What can be done with a message, and why not. */
function useActions(message: Message, onDone: (done: string) => void) {
  const place = usePlace()
  const navigate = useNavigate()
  const stale = useStale(place)
  const because = useBecause(place)('messages:write')
  const again = useAction(
    (body: Body, key) => answered(v1(place).POST('/v1/messages', { body, headers: { 'Idempotency-Key': key } })),
    async ({ id }) => {
      await stale('messages.')
      await navigate({ to: pathTo(place, 'messages', id) as never, state: { done: text.messages.sentAgain } })
    },
    useAttempt(place, `send again ${message.id}`),
  )
  const cancel = useAction(
    (id: string, key) =>
      answered(
        v1(place).POST('/v1/messages/{id}/cancel', { params: { path: { id } }, headers: { 'Idempotency-Key': key } }),
      ),
    async () => {
      await stale('messages.')
      onDone(text.messages.cancelled)
    },
  )
  const isCancellable = (cancellableStatuses as readonly string[]).includes(message.status)
  return {
    again,
    cancel,
    because: {
      again: because ?? (message.direction === 'outbound' ? undefined : text.messages.onlyOutbound),
      cancel: because ?? (isCancellable ? undefined : text.messages.onlyQueued),
    },
  }
}

/** The request that sends the same at once. */
function bodyOf({ channel_id, to, type, content, reference, metadata, reply_to, priority }: Message): Body {
  return { channel: channel_id, to, type, ...content, reference, metadata, reply_to, priority } as Body
}
