/** The conversation that is read: who it is with, its messages, and what one does with it. */
import { Group, Stack, Text, Title } from '@mantine/core'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { problemOf } from '../../api/problem.ts'
import { useOwnSession } from '../../api/session.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Done } from '../../parts/done.tsx'
import { PathLink } from '../../parts/path-link.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { Waiting } from '../../parts/states.tsx'
import { usePlace } from '../../parts/use-place.ts'
import { pathTo } from '../../paths.ts'
import type { Query } from '../../query.ts'
import { text } from '../../text/en.ts'
import { Answer } from './answer.tsx'
import { ContactRegion } from './contact-region.tsx'
import { nameOf, useChange, useConversation, type Conversation } from './conversation.ts'
import { MessageLog } from './message-log.tsx'
import { ServiceWindow } from './service-window.tsx'
import { useWindow } from './use-window.ts'

export function ConversationPane({ id, back }: { id: string; back: Query }) {
  const place = usePlace()
  const conversation = useConversation(id)
  return (
    <div className="inbox-pane">
      <PathLink to={pathTo(place, 'inbox')} search={back} className="narrow-only">
        {text.inbox.back}
      </PathLink>
      {conversation.isPending && <Waiting />}
      {conversation.isError && (
        <ProblemAlert problem={problemOf(conversation.error)} onAgain={() => void conversation.refetch()} />
      )}
      {conversation.data !== undefined && <Read conversation={conversation.data} />}
    </div>
  )
}

function Read({ conversation }: { conversation: Conversation }) {
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
        <Handling conversation={conversation} onDone={setDone} />
        <Done text={done} />
        <MessageLog conversation={conversation} />
        <Answer conversation={conversation} isClosed={isClosed} onDone={setDone} />
      </Stack>
      <ContactRegion conversation={conversation} />
    </div>
  )
}

/** Who sees to it, and whether there is still something to see to. */
function Handling({
  conversation: { id, status, assignee, assignee_name },
  onDone,
}: {
  conversation: Conversation
  onDone: (done: string) => void
}) {
  const { user } = useOwnSession()
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
          because={change.because}
          onPress={() => change.run({ status: status === 'open' ? 'done' : 'open' })}
        />
        <ActionButton
          label={isMine ? words.unassign : words.assign}
          variant="default"
          size="xs"
          because={change.because}
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

/** What is on the screen of who may answer it counts as read; not so for who acts in the place of somebody else. */
function useMarkedRead({ id, read, last_message_at }: Conversation): void {
  const { impersonating } = useOwnSession()
  const { run, because } = useChange(id)
  const isDue = !read && because === undefined && impersonating === null
  const mark = useEffectEvent((_upTo: string) => run({ read: true }))
  useEffect(() => {
    if (isDue) mark(last_message_at)
  }, [isDue, last_message_at])
}

/** The conversation that was chosen in the list has the focus; one that the screen began with leaves it to the h1. */
function useFocusWhenChosen() {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    const { activeElement } = document
    if (activeElement?.closest('.inbox-list') !== null || activeElement === document.body) heading.current?.focus()
  }, [])
  return heading
}
