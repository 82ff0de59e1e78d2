/** The dialog that makes a contact or changes one. */
import { Button, Group, Stack } from '@mantine/core'
import { useState } from 'react'
import { answered, v1 } from '../../api/client.ts'
import { channelTypes } from '../../api/generated/tables.ts'
import type { components } from '../../api/generated/v1.ts'
import type { Problem } from '../../api/problem.ts'
import { useAction } from '../../api/use-action.ts'
import { useStale } from '../../api/use-stale.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { ChoiceField, LongTextField, TextField } from '../../parts/fields.tsx'
import { FormProblem } from '../../parts/form-problem.tsx'
import { objectIn } from '../../parts/json-object.ts'
import { Outdated } from '../../parts/outdated.tsx'
import { useDraft } from '../../parts/use-draft.ts'
import { usePlace } from '../../parts/use-place.ts'
import { inWords, text } from '../../text/en.ts'
import {
  changeOf,
  draftNames,
  draftOf,
  type ConsentChosen,
  type ContactDraft,
  type ObjectName,
  type TextName,
} from './contact-draft.ts'
import type { Contact } from './contact.ts'

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
  const place = usePlace()
  const stale = useStale(place)
  const [draft, change, forget, { began, isOutdated }] = useDraft(
    place,
    `contact ${stored?.id ?? 'new'}`,
    draftOf(stored),
  )
  const consent = JSON.stringify(stored?.consent)
  // with what was stored when it was chosen: an opt-out may come meanwhile
  const [{ chosen, beside }, choose] = useState<{ chosen: ConsentChosen; beside: string | undefined }>({
    chosen: {},
    beside: consent,
  })
  const isChosen = Object.values(chosen).some((status) => status !== '')
  const save = useAction(
    (body: Body, key) =>
      answered(
        stored === undefined
          ? v1(place).POST('/v1/contacts', { body, headers: { 'Idempotency-Key': key } })
          : v1(place).PATCH('/v1/contacts/{id}', { body, params: { path: { id: stored.id } } }),
      ),
    async (contact) => {
      forget()
      await stale('contacts.')
      onSaved(contact)
    },
  )
  const body = changeOf(began, draft, chosen)
  return (
    <Dialog title={stored === undefined ? text.contacts.create : text.contacts.edit} isOpen onClose={onClose} size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (body !== undefined) save.run(body)
        }}
      >
        <Stack>
          <Outdated
            when={isOutdated || (isChosen && beside !== consent)}
            onGivenUp={() => {
              forget()
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

/** Folded away until one of them is refused. */
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
    error: objectIn(draft[name]) === undefined ? words.notObject : undefined,
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
            label={words.consentBy(inWords(type))}
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
