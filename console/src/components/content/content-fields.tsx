/** Form fields for the content of a message: type, then text, template variables or JSON. */
import { Group, Stack, Text } from '@mantine/core'
import { useRef, useState } from 'react'
import { unwrap, own, type Problem, v1 } from '../../api/client.ts'
import { useDisabledReason } from '../../api/session.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { useApiQuery } from '../../api/use-api-query.ts'
import { type Workspace, useWorkspace } from '../../app/paths.ts'
import { humanize, text } from '../../text/en.ts'
import { SuccessNotice, ProblemAlert } from '../feedback/alerts.tsx'
import { ActionButton } from '../form/action-button.tsx'
import { ChoiceField, LongTextField, TextField } from '../form/fields.tsx'
import { useTimeFormat } from '../format/intl.tsx'
import { Bubble } from './bubble.tsx'
import {
  templateVariablesOf,
  isApproved,
  type ContentDraft,
  contentOf,
  uploadTarget,
  type Template,
  withType,
} from './content.ts'
import { TemplateBubble } from './template-bubble.tsx'

const templatesMax = 100

export function useTemplates(
  workspace: Workspace,
  channel: string,
  type: string,
): { readonly templates: readonly Template[]; readonly isPending: boolean } {
  const isAsked = channel !== '' && type === 'template'
  const read = useApiQuery(
    workspace,
    ['channels.list_templates', channel, 'of content'],
    () =>
      v1(workspace).GET('/v1/channels/{id}/templates', {
        params: { path: { id: channel }, query: { limit: templatesMax } },
      }),
    isAsked,
  )
  return { templates: isAsked ? (read.data?.data ?? []) : [], isPending: isAsked && read.isPending }
}

interface ContentFieldsProps<D extends ContentDraft> {
  readonly draft: D
  readonly onChange: (draft: D) => void
  readonly problem: Problem | undefined
  readonly types: readonly string[]
  readonly templates: readonly Template[]
  /** Prefix of API fields: `message.` in campaigns. */
  readonly within?: string
  /** Only if the message is sent before uploads expire. */
  readonly uploads?: boolean
}

export function ContentFields<D extends ContentDraft>({
  draft,
  onChange,
  problem,
  types,
  templates,
  within = '',
  uploads = false,
}: ContentFieldsProps<D>) {
  const words = text.content
  const choices = types.map((value) => ({ value, label: humanize(value) }))
  return (
    <Stack>
      <ChoiceField
        label={words.type}
        choices={choices}
        value={draft.type}
        onChange={(type) => onChange({ ...draft, ...withType(draft, type) })}
        param={`${within}type`}
        problem={problem}
      />
      {draft.type === 'template' && templates.length > 0 ? (
        <TemplateFields
          draft={draft}
          onChange={onChange}
          problem={problem}
          templates={templates}
          param={`${within}template`}
        />
      ) : (
        <LongTextField
          label={words.message}
          value={draft.message}
          onChange={(message) => onChange({ ...draft, message })}
          hint={draft.type === 'text' ? undefined : words.asJson}
          isCode={draft.type !== 'text'}
          param={`${within}${draft.type}`}
          problem={problem}
          error={contentOf(draft, templates) === undefined ? words.notJson : undefined}
        />
      )}
      {uploads && <UploadButton key={draft.type} draft={draft} onChange={onChange} templates={templates} />}
    </Stack>
  )
}

interface TemplateFieldsProps<D> extends Pick<ContentFieldsProps<D & ContentDraft>, 'templates' | 'problem'> {
  readonly draft: D
  readonly onChange: (draft: D) => void
  readonly param: string
}

export function TemplateFields<D extends ContentDraft>({
  draft,
  onChange,
  problem,
  templates,
  param,
}: TemplateFieldsProps<D>) {
  const words = text.content
  const chosen = templates.find(({ id }) => id === draft.template)
  const isGone = draft.template !== '' && chosen === undefined
  const choices = templates
    .filter((template) => template === chosen || isApproved(template))
    .map(({ id, name, language }) => ({ value: id, label: `${name} (${language})` }))
  const unsendable = isGone
    ? words.templateGone
    : chosen === undefined || isApproved(chosen)
      ? undefined
      : words.templateStatus(chosen.status)
  return (
    <>
      <ChoiceField
        label={words.template}
        any={words.choose}
        choices={isGone ? [...choices, draft.template] : choices}
        value={draft.template}
        onChange={(template) => onChange({ ...draft, template, templateVariables: {} })}
        hint={choices.length === 0 ? words.noneApproved : undefined}
        error={unsendable}
        param={param}
        problem={problem}
      />
      {chosen !== undefined &&
        templateVariablesOf(chosen).map(({ name, holds }) => (
          <TextField
            key={name}
            label={name}
            hint={holds === 'text' ? undefined : words.fileAddress(holds)}
            value={draft.templateVariables[name] ?? ''}
            onChange={(value) =>
              onChange({ ...draft, templateVariables: { ...draft.templateVariables, [name]: value } })
            }
          />
        ))}
    </>
  )
}

export function ContentPreview({ draft, templates }: { draft: ContentDraft; templates: readonly Template[] }) {
  const chosen = draft.type === 'template' ? templates.find(({ id }) => id === draft.template) : undefined
  if (chosen !== undefined) return <TemplateBubble template={chosen} filled={draft.templateVariables} />
  if (draft.type === 'template' && templates.length > 0 && draft.template === '')
    return <Text c="dimmed">{text.content.nothing}</Text>
  if (draft.type === 'text' && draft.message === '') return <Text c="dimmed">{text.content.nothing}</Text>
  return <Bubble type={draft.type} content={{ [draft.type]: contentOf(draft, templates) ?? draft.message }} />
}

interface Chosen {
  readonly content: File
  readonly about: readonly (string | number)[]
}

async function uploadFile(workspace: Workspace, { content }: Chosen, key: string) {
  const form = new FormData()
  form.append('file', content)
  return await unwrap(
    own(workspace).POST('/console/api/media', {
      body: { file: '' },
      bodySerializer: () => form,
      headers: { 'Idempotency-Key': key },
    }),
  )
}

interface UploadButtonProps<D extends ContentDraft> {
  readonly draft: D
  readonly onChange: (draft: D) => void
  readonly templates: readonly Template[]
}

function UploadButton<D extends ContentDraft>({ draft, onChange, templates }: UploadButtonProps<D>) {
  const workspace = useWorkspace()
  const time = useTimeFormat()
  const disabledReason = useDisabledReason(workspace)('upload')
  const words = text.content
  const chooser = useRef<HTMLInputElement>(null)
  const [uploadNotice, setUploadNotice] = useState({ done: '', wrong: '' })
  const link = uploadTarget(draft, templates)
  const upload = useApiMutation(
    (chosen: Chosen, key) => uploadFile(workspace, chosen, key),
    (file) => {
      if (link?.kinds.includes(file.type) !== true)
        return setUploadNotice({ done: '', wrong: words.wrongKind(file.type) })
      onChange({ ...draft, ...link.apply(file) })
      setUploadNotice({ done: words.uploaded(time(file.expires_at)), wrong: '' })
    },
  )
  const choose = (content: File | undefined) => {
    setUploadNotice({ done: '', wrong: '' })
    if (content !== undefined) upload.run({ content, about: [content.name, content.size, content.lastModified] })
  }
  return (
    <div>
      <Group wrap="nowrap">
        <ActionButton
          label={words.upload}
          variant="default"
          disabledReason={disabledReason ?? (link === undefined ? words.noUploadTarget : undefined)}
          loading={upload.isRunning}
          onPress={() => chooser.current?.click()}
        />
        <Text size="sm" flex={1}>
          {upload.isRunning ? words.uploading : link === undefined ? words.noUploadTarget : words.uploadHint}
        </Text>
      </Group>
      <input
        ref={chooser}
        type="file"
        hidden
        onChange={(event) => {
          choose(event.currentTarget.files?.[0])
          // so that the same file can be chosen again
          event.currentTarget.value = ''
        }}
      />
      <SuccessNotice text={uploadNotice.done} />
      {uploadNotice.wrong !== '' && (
        <Text role="alert" size="sm" c="var(--mantine-color-error)">
          {uploadNotice.wrong}
        </Text>
      )}
      {upload.problem !== undefined && <ProblemAlert problem={upload.problem} />}
    </div>
  )
}
