/** The fields of what a message says: its type, then a text, a template with its blanks, or JSON. */
import { Stack, Text } from '@mantine/core'
import { v1 } from '../api/client.ts'
import type { Problem } from '../api/problem.ts'
import { useRead } from '../api/use-read.ts'
import type { Place } from '../paths.ts'
import { inWords, text } from '../text/en.ts'
import { Bubble } from './bubble.tsx'
import { blanksOf, canBeSent, contentOf, withType, type ContentDraft, type Template } from './content.ts'
import { ChoiceField, LongTextField, TextField } from './fields.tsx'
import { TemplateBubble } from './template-bubble.tsx'
import { UploadButton } from './upload-button.tsx'

const templatesMax = 100

/** The templates of a channel, whether or not they can be sent; none where none is chosen or it has no templates. */
export function useTemplates(
  place: Place,
  channel: string,
  type: string,
): { readonly templates: readonly Template[]; readonly isPending: boolean } {
  const isAsked = channel !== '' && type === 'template'
  const read = useRead(
    place,
    ['channels.list_templates', channel, 'of content'],
    () =>
      v1(place).GET('/v1/channels/{id}/templates', {
        params: { path: { id: channel }, query: { limit: templatesMax } },
      }),
    isAsked,
  )
  return { templates: isAsked ? (read.data?.data ?? []) : [], isPending: isAsked && read.isPending }
}

export interface ContentFieldsProps<D extends ContentDraft> {
  readonly draft: D
  readonly onChange: (draft: D) => void
  readonly problem: Problem | undefined
  /** What the channel can send. */
  readonly types: readonly string[]
  readonly templates: readonly Template[]
  /** Where the API has the content: `message.` in a campaign. */
  readonly within?: string
  /** Files can be uploaded: for what is sent before they are deleted. */
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
  const choices = types.map((value) => ({ value, label: inWords(value) }))
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

export interface TemplateFieldsProps<D> extends Pick<ContentFieldsProps<D & ContentDraft>, 'templates' | 'problem'> {
  readonly draft: D
  readonly onChange: (draft: D) => void
  readonly param: string
}

/** One of the templates, and a field for each of its blanks. */
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
    .filter((template) => template === chosen || canBeSent(template))
    .map(({ id, name, language }) => ({ value: id, label: `${name} (${language})` }))
  const unsendable = isGone
    ? words.templateGone
    : chosen === undefined || canBeSent(chosen)
      ? undefined
      : words.templateStatus(chosen.status)
  return (
    <>
      <ChoiceField
        label={words.template}
        any={words.choose}
        choices={isGone ? [...choices, draft.template] : choices}
        value={draft.template}
        onChange={(template) => onChange({ ...draft, template, blanks: {} })}
        hint={choices.length === 0 ? words.noneApproved : undefined}
        error={unsendable}
        param={param}
        problem={problem}
      />
      {chosen !== undefined &&
        blanksOf(chosen).map(({ name, holds }) => (
          <TextField
            key={name}
            label={name}
            hint={holds === 'text' ? undefined : words.fileAddress(holds)}
            value={draft.blanks[name] ?? ''}
            onChange={(value) => onChange({ ...draft, blanks: { ...draft.blanks, [name]: value } })}
          />
        ))}
    </>
  )
}

/** The draft as a phone would show it. */
export function ContentPreview({ draft, templates }: { draft: ContentDraft; templates: readonly Template[] }) {
  const chosen = draft.type === 'template' ? templates.find(({ id }) => id === draft.template) : undefined
  if (chosen !== undefined) return <TemplateBubble template={chosen} filled={draft.blanks} />
  if (draft.type === 'template' && templates.length > 0 && draft.template === '')
    return <Text c="dimmed">{text.content.nothing}</Text>
  if (draft.type === 'text' && draft.message === '') return <Text c="dimmed">{text.content.nothing}</Text>
  return <Bubble type={draft.type} content={{ [draft.type]: contentOf(draft, templates) ?? draft.message }} />
}
