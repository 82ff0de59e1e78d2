/** The dialog that creates or edits a contact. */
import { Button, Group, Stack } from '@mantine/core'
import { useState } from 'react'
import { unwrap, type Problem, v1 } from '../../api/client.ts'
import { channelTypes } from '../../api/generated/tables.ts'
import type { components } from '../../api/generated/v1.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { useInvalidate } from '../../api/use-api-query.ts'
import { useWorkspace } from '../../app/paths.ts'
import { ConflictAlert } from '../../components/feedback/alerts.tsx'
import { Dialog } from '../../components/feedback/dialog.tsx'
import { ChoiceField, FormProblem, LongTextField, TextField } from '../../components/form/fields.tsx'
import { parseJsonObject } from '../../components/form/json.ts'
import { useDraft } from '../../components/form/use-draft.ts'
import { humanize, text } from '../../text/en.ts'
import type { Contact } from './contact-screen.tsx'

type Body = components['schemas']['ContactUpdate']

export function ContactDialog({
  stored,
  onClose,
  onSaved,
}: {
  stored?: Contact
  onClose: () => void
  onSaved: (contact: Contact) => void
}) {
  const workspace = useWorkspace()
  const [draft, change, discard, { initial, hasConflict }] = useDraft(
    workspace,
    `contact ${stored?.id ?? 'new'}`,
    draftOf(stored),
  )
  const consent = JSON.stringify(stored?.consent)
  // an opt-out may arrive while the dialog is open
  const [{ chosen, beside }, choose] = useState<{ chosen: ConsentChosen; beside: string | undefined }>({
    chosen: {},
    beside: consent,
  })
  const isChosen = Object.values(chosen).some((status) => status !== '')
  const save = useSaveContact(stored, onSaved, discard)
  const body = changeOf(initial, draft, chosen)
  return (
    <Dialog title={stored === undefined ? text.contacts.create : text.contacts.edit} isOpen onClose={onClose} size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (body !== undefined) save.run(body)
        }}
      >
        <Stack>
          <ConflictAlert
            when={hasConflict || (isChosen && beside !== consent)}
            onDiscard={() => {
              discard()
              choose({ chosen: {}, beside: consent })
            }}
          />
          <ContactFields
            draft={draft}
            onChange={change}
            consent={chosen}
            onConsent={(next) => choose({ chosen: next, beside: isChosen ? beside : consent })}
            problem={save.problem}
          />
          <FormProblem problem={save.problem} fields={draftNames} />
          <Group justify="flex-end">
            <Button type="submit" loading={save.isRunning}>
              {text.contacts.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}

function useSaveContact(stored: Contact | undefined, onSaved: (contact: Contact) => void, discard: () => void) {
  const workspace = useWorkspace()
  const invalidate = useInvalidate(workspace)
  return useApiMutation(
    (body: Body, key) =>
      unwrap(
        stored === undefined
          ? v1(workspace).POST('/v1/contacts', { body, headers: { 'Idempotency-Key': key } })
          : v1(workspace).PATCH('/v1/contacts/{id}', { body, params: { path: { id: stored.id } } }),
      ),
    async (contact) => {
      discard()
      await invalidate('contacts.')
      onSaved(contact)
    },
  )
}

interface FieldsProps {
  readonly draft: ContactDraft
  readonly onChange: (draft: ContactDraft) => void
  readonly consent: ConsentChosen
  readonly onConsent: (consent: ConsentChosen) => void
  readonly problem: Problem | undefined
}

function ContactFields(props: FieldsProps) {
  const { draft, onChange, problem } = props
  const words = text.contacts
  const of = (name: TextName) => ({
    value: draft[name],
    onChange: (value: string) => onChange({ ...draft, [name]: value }),
    param: name,
    problem,
  })
  return (
    <>
      <TextField label={words.phone} hint={words.phoneHint} {...of('phone')} />
      <TextField label={words.email} {...of('email')} />
      <TextField label={words.firstName} {...of('first_name')} />
      <TextField label={words.lastName} {...of('last_name')} />
      <MoreFields {...props} />
    </>
  )
}

function MoreFields({ draft, onChange, consent, onConsent, problem }: FieldsProps) {
  const words = text.contacts
  const [isOpen, setOpen] = useState(false)
  const isRefused = draftNames.slice(4).some((name) => problem?.about(name) !== undefined)
  const of = (name: TextName | 'tags') => ({
    value: draft[name],
    onChange: (value: string) => onChange({ ...draft, [name]: value }),
    param: name,
    problem,
  })
  const json = (name: ObjectName) => ({
    value: draft[name],
    onChange: (value: string) => onChange({ ...draft, [name]: value }),
    param: name,
    problem,
    isCode: true,
    error: parseJsonObject(draft[name]) === undefined ? words.notObject : undefined,
  })
  const statuses = (['opted_in', 'opted_out', 'unknown'] as const).map((value) => ({
    value,
    label: words.consents[value],
  }))
  return (
    <details open={isOpen || isRefused} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{words.more}</summary>
      <Stack mt="sm">
        <TextField label={words.tags} hint={words.tagsHint} {...of('tags')} />
        {channelTypes.map((type) => (
          <ChoiceField
            key={type}
            label={words.consentBy(humanize(type))}
            any={words.unchanged}
            choices={statuses}
            value={consent[type] ?? ''}
            onChange={(status) => onConsent({ ...consent, [type]: status })}
            param={`consent.${type}`}
            problem={problem}
          />
        ))}
        <LongTextField label={words.attributes} hint={words.attributesHint} {...json('attributes')} />
        <LongTextField label={words.identifiers} hint={words.identifiersHint} {...json('identifiers')} />
        <TextField label={words.locale} hint={words.localeHint} {...of('locale')} />
        <TextField label={words.timezone} hint={words.timezoneHint} {...of('timezone')} />
        <TextField label={words.externalId} {...of('external_id')} />
        <LongTextField label={words.metadata} hint={words.metadataHint} {...json('metadata')} />
      </Stack>
    </details>
  )
}

interface ContactDraft {
  readonly phone: string
  readonly email: string
  readonly first_name: string
  readonly last_name: string
  readonly locale: string
  readonly timezone: string
  readonly external_id: string
  readonly tags: string
  readonly identifiers: string
  readonly attributes: string
  readonly metadata: string
}

/** By channel type; '' is unchanged. Not in the draft, which would send it again. */
type ConsentChosen = Readonly<Record<string, string>>

const texts = ['phone', 'email', 'first_name', 'last_name', 'locale', 'timezone', 'external_id'] as const
const objects = ['identifiers', 'attributes', 'metadata'] as const
type TextName = (typeof texts)[number]
type ObjectName = (typeof objects)[number]
const draftNames: readonly string[] = [...texts, ...objects, 'tags', 'consent']

const asJson = (value: object | undefined): string =>
  value === undefined || Object.keys(value).length === 0 ? '' : JSON.stringify(value, null, 2)

export function draftOf(contact: Contact | undefined): ContactDraft {
  const of = (name: TextName) => contact?.[name] ?? ''
  return {
    phone: of('phone'),
    email: of('email'),
    first_name: of('first_name'),
    last_name: of('last_name'),
    locale: of('locale'),
    timezone: of('timezone'),
    external_id: of('external_id'),
    tags: contact?.tags.join(', ') ?? '',
    identifiers: asJson(contact?.identifiers),
    attributes: asJson(contact?.attributes),
    metadata: asJson(contact?.metadata),
  }
}

/** undefined while a JSON field is invalid. */
function changeOf(before: ContactDraft, after: ContactDraft, chosen: ConsentChosen): Body | undefined {
  const change: Record<string, unknown> = {}
  for (const name of texts)
    if (after[name].trim() !== before[name]) change[name] = after[name].trim() === '' ? null : after[name].trim()
  if (after.tags !== before.tags) change['tags'] = splitTags(after.tags)
  for (const name of objects) {
    if (after[name] === before[name]) continue
    const written = parseJsonObject(after[name])
    if (written === undefined) return undefined
    change[name] = name === 'metadata' ? written : mergeOf(parseJsonObject(before[name]) ?? {}, written)
  }
  const consent = Object.entries(chosen).filter(
    ([type, status]) => status !== '' && (channelTypes as readonly string[]).includes(type),
  )
  if (consent.length > 0) change['consent'] = Object.fromEntries(consent)
  return change as Body
}

function mergeOf(before: object, after: object): object {
  const was = new Map(Object.entries(before).map(([key, value]) => [key, JSON.stringify(value)]))
  const changed = Object.entries(after).filter(([key, value]) => was.get(key) !== JSON.stringify(value))
  const gone = [...was.keys()].filter((key) => !(key in after))
  return Object.fromEntries([...changed, ...gone.map((key) => [key, null])])
}

const splitTags = (written: string): string[] =>
  written
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '')
