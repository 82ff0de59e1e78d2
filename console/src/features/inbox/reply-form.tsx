/** The reply form, or the template form after the service window. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { unwrap, v1 } from '../../api/client.ts'
import { contentExamples } from '../../api/generated/contents.ts'
import type { components } from '../../api/generated/v1.ts'
import { useDisabledReason } from '../../api/session.ts'
import { type ApiMutation, useApiMutation } from '../../api/use-action.ts'
import { useInvalidate } from '../../api/use-api-query.ts'
import { pathTo, useWorkspace } from '../../app/paths.ts'
import { ContentPreview, TemplateFields, useTemplates } from '../../components/content/content-fields.tsx'
import { isApproved, contentOf, firstContent } from '../../components/content/content.ts'
import { ProblemAlert } from '../../components/feedback/alerts.tsx'
import type { ApiRequest } from '../../components/feedback/api-button.tsx'
import { Dialog } from '../../components/feedback/dialog.tsx'
import { LoadingIndicator } from '../../components/feedback/screen.tsx'
import { ActionButton } from '../../components/form/action-button.tsx'
import { FormProblem, LongTextField } from '../../components/form/fields.tsx'
import { useStoredIdempotencyKeys, useDraft } from '../../components/form/use-draft.ts'
import { Region } from '../../components/format/facts.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { text } from '../../text/en.ts'
import type { Conversation } from './conversation-list.tsx'

export function ReplyArea({
  conversation,
  isClosed,
  onDone,
}: {
  conversation: Conversation
  isClosed: boolean
  onDone: (done: string) => void
}) {
  if (!isClosed) return <ReplyForm conversation={conversation} onDone={onDone} />
  return (
    <div>
      <Text size="sm" mb="xs">
        {text.inbox.closedWhy}
      </Text>
      <SendTemplate conversation={conversation} onDone={onDone} />
    </div>
  )
}

function ReplyForm({ conversation, onDone }: { conversation: Conversation; onDone: (done: string) => void }) {
  const workspace = useWorkspace()
  const disabledReason = useDisabledReason(workspace)('messages:write')
  const form = useRef<HTMLFormElement>(null)
  const [{ reply }, change, discard] = useDraft(workspace, `reply ${conversation.id}`, { reply: '' })
  const [isMissing, setMissing] = useState(false)
  const words = text.inbox
  const latest = useRef(reply)
  useEffect(() => {
    latest.current = reply
  }, [reply])
  const send = useSend(conversation, (sent) => {
    // the next reply may have been started
    if ((sent.content as { body?: string }).body === latest.current) discard()
    onDone(words.sent)
    form.current?.querySelector('textarea')?.focus()
  })
  const { problem } = send
  const said = { type: 'text', content: { body: reply } }
  const shownAtField =
    problem === undefined ? undefined : (words.refused[problem.code] ?? problem.about('text') ?? problem.about('to'))
  const submit = () => {
    const isEmpty = reply.trim() === ''
    setMissing(isEmpty)
    if (!isEmpty && disabledReason === undefined) send.run(said)
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
        error={isMissing ? text.problem.required : shownAtField}
      />
      {problem !== undefined && shownAtField === undefined && <ProblemAlert problem={problem} />}
      <Group justify="flex-end" mt="xs" gap="xs">
        {problem?.code === 'policy_violation' && <SendTemplate conversation={conversation} onDone={onDone} />}
        <ActionButton label={words.send} disabledReason={disabledReason} loading={send.isRunning} onPress={submit} />
      </Group>
    </form>
  )
}

interface SendTemplateProps {
  readonly conversation: Conversation
  readonly onDone: (done: string) => void
}

function SendTemplate({ conversation, onDone }: SendTemplateProps) {
  const disabledReason = useDisabledReason(useWorkspace())('messages:write')
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <ActionButton label={text.inbox.template} disabledReason={disabledReason} onPress={() => setOpen(true)} />
      <Dialog title={text.inbox.template} isOpen={isOpen} onClose={() => setOpen(false)} size="lg">
        <TemplateForm
          conversation={conversation}
          onDone={(done) => {
            setOpen(false)
            onDone(done)
          }}
        />
      </Dialog>
    </>
  )
}

function TemplateForm({ conversation, onDone }: SendTemplateProps) {
  const workspace = useWorkspace()
  const { templates, isPending } = useTemplates(workspace, conversation.channel_id, 'template')
  const [draft, change, discard] = useDraft(workspace, `template ${conversation.id}`, {
    ...firstContent,
    type: 'template',
  })
  const words = text.inbox
  const send = useSend(conversation, () => {
    discard()
    onDone(words.sent)
  })
  if (isPending) return <LoadingIndicator />
  if (!templates.some(isApproved))
    return (
      <Stack gap="xs">
        <Text>{words.noTemplates}</Text>
        <PathLink to={pathTo(workspace, 'templates')} search={{ channel: conversation.channel_id }}>
          {words.toTemplates}
        </PathLink>
      </Stack>
    )
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        send.run({ type: 'template', content: contentOf(draft, templates) })
      }}
    >
      <Stack>
        <TemplateFields draft={draft} onChange={change} problem={send.problem} templates={templates} param="template" />
        <Region title={text.messages.preview}>
          <ContentPreview draft={draft} templates={templates} />
        </Region>
        <FormProblem problem={send.problem} fields={['template']} />
        <Group justify="flex-end">
          <Button type="submit" loading={send.isRunning}>
            {words.sendTemplate}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

type Body = components['schemas']['SendMessage']

interface OutgoingMessage {
  readonly type: string
  readonly content: unknown
}

const bodyOf = ({ channel_id, identifier }: Conversation, { type, content }: OutgoingMessage): Body =>
  ({ channel: channel_id, to: identifier, type, [type]: content }) as unknown as unknown as Body

export const replyRequest = (conversation: Conversation): ApiRequest => ({
  operation: 'messages.send',
  method: 'POST',
  path: '/v1/messages',
  body: bodyOf(conversation, { type: 'text', content: contentExamples.text }),
})

function useSend(conversation: Conversation, onSent: (said: OutgoingMessage) => void): ApiMutation<OutgoingMessage> {
  const workspace = useWorkspace()
  const invalidate = useInvalidate(workspace)
  return useApiMutation(
    (said: OutgoingMessage, key) =>
      unwrap(
        v1(workspace).POST('/v1/messages', { body: bodyOf(conversation, said), headers: { 'Idempotency-Key': key } }),
      ),
    async (_, said) => {
      onSent(said)
      await invalidate('messages.', 'conversations.list_messages')
    },
    useStoredIdempotencyKeys(workspace, `reply ${conversation.id}`),
  )
}
