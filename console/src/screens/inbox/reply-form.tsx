/** A reply in words. What was written is kept per conversation until it is sent. */
import { Group } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { useBecause } from '../../api/may.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { LongTextField } from '../../parts/fields.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { useDraft } from '../../parts/use-draft.ts'
import { usePlace } from '../../parts/use-place.ts'
import { text } from '../../text/en.ts'
import type { Conversation } from './conversation.ts'
import { SendTemplate } from './send-template.tsx'
import { useSend } from './use-send.ts'

export function ReplyForm({ conversation, onDone }: { conversation: Conversation; onDone: (done: string) => void }) {
  const place = usePlace()
  const because = useBecause(place)('messages:write')
  const form = useRef<HTMLFormElement>(null)
  const [{ reply }, change, forget] = useDraft(place, `reply ${conversation.id}`, { reply: '' })
  const [isMissing, setMissing] = useState(false)
  const words = text.inbox
  const latest = useRef(reply)
  useEffect(() => {
    latest.current = reply
  }, [reply])
  const send = useSend(conversation, (sent) => {
    // the next reply may have been begun meanwhile
    if ((sent.content as { body?: string }).body === latest.current) forget()
    onDone(words.sent)
    form.current?.querySelector('textarea')?.focus()
  })
  const { problem } = send
  const said = { type: 'text', content: { body: reply } }
  const atField =
    problem === undefined ? undefined : (words.refused[problem.code] ?? problem.about('text') ?? problem.about('to'))
  const submit = () => {
    const isEmpty = reply.trim() === ''
    setMissing(isEmpty)
    if (!isEmpty && because === undefined) send.run(said)
  }
  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <LongTextField
        label={words.reply}
        hint={words.replyHint}
        value={reply}
        onChange={(value) => {
          setMissing(false)
          change({ reply: value })
        }}
        onSubmit={submit}
        error={isMissing ? text.problem.required : atField}
      />
      {problem !== undefined && atField === undefined && <ProblemAlert problem={problem} />}
      <Group justify="flex-end" mt="xs" gap="xs">
        {problem?.code === 'policy_violation' && <SendTemplate conversation={conversation} onDone={onDone} />}
        <ActionButton label={words.send} because={because} loading={send.isRunning} onPress={submit} />
      </Group>
    </form>
  )
}
