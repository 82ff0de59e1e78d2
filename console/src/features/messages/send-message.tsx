/** The send dialog. */
import { Button, Group, Stack } from '@mantine/core'
import { useState } from 'react'
import { unwrap, type Problem, v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { useInvalidate } from '../../api/use-api-query.ts'
import { useWorkspace } from '../../app/paths.ts'
import { ContentFields, ContentPreview, useTemplates } from '../../components/content/content-fields.tsx'
import { type ContentDraft, contentOf, firstContent, type Template } from '../../components/content/content.ts'
import { type Channels, useChannels } from '../../components/content/use-channels.ts'
import { Dialog } from '../../components/feedback/dialog.tsx'
import { ChoiceField, FormProblem, LongTextField, TextField } from '../../components/form/fields.tsx'
import { useStoredIdempotencyKeys, useDraft } from '../../components/form/use-draft.ts'
import { Region } from '../../components/format/facts.tsx'
import { parseLocalTime, useZone } from '../../components/format/intl.tsx'
import { text } from '../../text/en.ts'

type Message = components['schemas']['Message']
type Body = components['schemas']['SendMessage']

interface SendDraft extends ContentDraft {
  readonly channel: string
  readonly to: string
  readonly reference: string
  readonly reply_to: string
  readonly send_at: string
  readonly expires_in_seconds: string
  readonly priority: string
  readonly metadata: string
}

const first: SendDraft = {
  ...firstContent,
  channel: '',
  to: '',
  reference: '',
  reply_to: '',
  send_at: '',
  expires_in_seconds: '',
  priority: '',
  metadata: '',
}

export function SendMessage({
  onClose,
  onSent,
  to,
}: {
  onClose: () => void
  onSent: (message: Message) => void
  to?: string
}) {
  const workspace = useWorkspace()
  const zone = useZone()
  const invalidate = useInvalidate(workspace)
  const channels = useChannels(workspace)
  const [draft, change, discard] = useDraft(workspace, `message ${to ?? ''}`, { ...first, to: to ?? '' })
  const channel = channels.all.find(({ id }) => id === draft.channel) ?? channels.all[0]
  const { templates, isPending } = useTemplates(workspace, channel?.id ?? '', draft.type)
  const send = useApiMutation(
    (body: Body, key) => unwrap(v1(workspace).POST('/v1/messages', { body, headers: { 'Idempotency-Key': key } })),
    async (message) => {
      discard()
      await invalidate('messages.')
      onSent(message)
    },
    useStoredIdempotencyKeys(workspace, 'send message'),
  )
  const body = bodyOf({ ...draft, channel: channel?.id ?? '' }, templates, zone)
  const words = text.messages
  return (
    <Dialog title={words.send} isOpen onClose={onClose} size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (body !== undefined) send.run(body)
        }}
      >
        <Stack>
          <SendFields
            draft={draft}
            onChange={change}
            problem={send.problem}
            channels={channels}
            channel={channel}
            templates={templates}
          />
          <FormProblem
            problem={send.problem}
            fields={['channel', 'to', 'type', draft.type, 'reference', ...moreNames]}
          />
          <Group justify="flex-end">
            <Button type="submit" loading={send.isRunning || channels.isPending || isPending}>
              {words.sendIt}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}

interface SendFieldsProps {
  readonly draft: SendDraft
  readonly onChange: (draft: SendDraft) => void
  readonly problem: Problem | undefined
  readonly channels: Channels
  readonly channel: Channels['all'][number] | undefined
  readonly templates: readonly Template[]
}

function SendFields({ draft, onChange, problem, channels, channel, templates }: SendFieldsProps) {
  const words = text.messages
  return (
    <>
      <ChoiceField
        label={words.channel}
        choices={channels.choices}
        value={channel?.id ?? ''}
        onChange={(id) => onChange({ ...draft, channel: id })}
        error={!channels.isPending && channels.all.length === 0 ? words.noChannel : undefined}
        param="channel"
        problem={problem}
      />
      <TextField
        label={words.to}
        hint={words.toHint}
        value={draft.to}
        onChange={(value) => onChange({ ...draft, to: value })}
        param="to"
        problem={problem}
        required
      />
      <ContentFields
        draft={draft}
        onChange={onChange}
        problem={problem}
        types={channel?.capabilities ?? ['text']}
        templates={templates}
        uploads
      />
      <TextField
        label={words.reference}
        value={draft.reference}
        onChange={(reference) => onChange({ ...draft, reference })}
        param="reference"
        problem={problem}
      />
      <MoreFields draft={draft} onChange={onChange} problem={problem} />
      <Region title={words.preview}>
        <ContentPreview draft={draft} templates={templates} />
      </Region>
    </>
  )
}

const moreNames = ['reply_to', 'send_at', 'expires_in_seconds', 'priority', 'metadata'] as const

function MoreFields({
  draft,
  onChange,
  problem,
}: {
  draft: SendDraft
  onChange: (draft: SendDraft) => void
  problem: Problem | undefined
}) {
  const zone = useZone()
  const words = text.messages
  const of = (name: (typeof moreNames)[number]) => ({
    value: draft[name],
    onChange: (value: string) => onChange({ ...draft, [name]: value }),
    param: name,
    problem,
  })
  const [isOpen, setOpen] = useState(moreNames.some((name) => draft[name] !== ''))
  const isRefused = moreNames.some((name) => problem?.about(name) !== undefined)
  const priorities = (['high', 'normal', 'low'] as const).map((value) => ({ value, label: words.priorities[value] }))
  return (
    <details open={isOpen || isRefused} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{words.more}</summary>
      <Stack mt="sm">
        <TextField label={words.replyTo} hint={words.replyToHint} {...of('reply_to')} />
        <TextField label={words.sendAt} hint={words.sendAtHint(zone)} {...of('send_at')} />
        <TextField label={words.expires} {...of('expires_in_seconds')} />
        <ChoiceField label={words.priority} any="" choices={priorities} {...of('priority')} />
        <LongTextField
          label={words.metadata}
          hint={words.metadataHint}
          isCode
          error={jsonOf(draft.metadata) === undefined ? text.content.notJson : undefined}
          {...of('metadata')}
        />
      </Stack>
    </details>
  )
}

/** null: empty; undefined: invalid JSON. */
function jsonOf(written: string): unknown {
  if (written.trim() === '') return null
  try {
    return JSON.parse(written) as unknown
  } catch {
    return undefined
  }
}

/** undefined while a JSON field is invalid. */
function bodyOf(draft: SendDraft, templates: readonly Template[], zone: string): Body | undefined {
  const [content, metadata] = [contentOf(draft, templates), jsonOf(draft.metadata)]
  if (content === undefined || metadata === undefined) return undefined
  const seconds = draft.expires_in_seconds.trim()
  return {
    channel: draft.channel,
    to: draft.to.trim(),
    type: draft.type,
    [draft.type]: content,
    ...(draft.reference === '' ? {} : { reference: draft.reference }),
    ...(draft.reply_to === '' ? {} : { reply_to: draft.reply_to.trim() }),
    ...(draft.send_at === '' ? {} : { send_at: parseLocalTime(draft.send_at, zone) }),
    ...(seconds === '' ? {} : { expires_in_seconds: Number.isNaN(Number(seconds)) ? seconds : Number(seconds) }),
    ...(draft.priority === '' ? {} : { priority: draft.priority }),
    ...(metadata === null ? {} : { metadata }),
  } as Body
}
