/** An approved template of the conversation's channel, filled field by field. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useBecause } from '../../api/may.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { ContentPreview, TemplateFields, useTemplates } from '../../parts/content-fields.tsx'
import { canBeSent, contentOf, firstContent } from '../../parts/content.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Region } from '../../parts/facts.tsx'
import { FormProblem } from '../../parts/form-problem.tsx'
import { PathLink } from '../../parts/path-link.tsx'
import { Waiting } from '../../parts/states.tsx'
import { useDraft } from '../../parts/use-draft.ts'
import { usePlace } from '../../parts/use-place.ts'
import { pathTo } from '../../paths.ts'
import { text } from '../../text/en.ts'
import type { Conversation } from './conversation.ts'
import { useSend } from './use-send.ts'

interface SendTemplateProps {
  readonly conversation: Conversation
  readonly onDone: (done: string) => void
}

export function SendTemplate({ conversation, onDone }: SendTemplateProps) {
  const because = useBecause(usePlace())('messages:write')
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <ActionButton label={text.inbox.template} because={because} onPress={() => setOpen(true)} />
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
  const place = usePlace()
  const { templates, isPending } = useTemplates(place, conversation.channel_id, 'template')
  const [draft, change, forget] = useDraft(place, `template ${conversation.id}`, { ...firstContent, type: 'template' })
  const words = text.inbox
  const send = useSend(conversation, () => {
    forget()
    onDone(words.sent)
  })
  if (isPending) return <Waiting />
  if (!templates.some(canBeSent))
    return (
      <Stack gap="xs">
        <Text>{words.noTemplates}</Text>
        <PathLink to={pathTo(place, 'templates')} search={{ channel: conversation.channel_id }}>
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
