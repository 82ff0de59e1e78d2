/** A contact: what is known, what has passed between it and the account, its consent and how it came to be. */
import { Alert, Badge, Button, CloseButton, Code, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { answered, v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { useBecause } from '../../api/session.ts'
import { useAction } from '../../api/use-action.ts'
import { useRead, useStale } from '../../api/use-api-query.ts'
import { pathTo, usePlace } from '../../app/paths.ts'
import { Done, ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ApiButton } from '../../components/feedback/api-button.tsx'
import { ConfirmDialog } from '../../components/feedback/dialog.tsx'
import { Loaded, Screen } from '../../components/feedback/screen.tsx'
import { ActionButton } from '../../components/form/action-button.tsx'
import { TextField } from '../../components/form/fields.tsx'
import { downloadFile } from '../../components/format/csv.ts'
import { Facts, Region } from '../../components/format/facts.tsx'
import { useTime } from '../../components/format/intl.tsx'
import { inWords, text } from '../../text/en.ts'
import { ContactDialog } from './contact-dialog.tsx'
import { ConsentHistory, ContactTimeline } from './contact-history.tsx'

export function ContactScreen() {
  const place = usePlace()
  const { id } = useParams({ strict: false }) as { id: string }
  const contact = useRead(place, ['contacts.retrieve', id], () =>
    v1(place).GET('/v1/contacts/{id}', { params: { path: { id } } }),
  )
  return (
    <Loaded title={text.screens.contacts} query={contact}>
      {(shown) => <Shown key={id} contact={shown} />}
    </Loaded>
  )
}

function Shown({ contact }: { contact: Contact }) {
  const { mode } = usePlace()
  const [done, setDone] = useState('')
  return (
    <Screen
      title={nameOf(contact)}
      mode={mode}
      actions={
        <ApiButton request={{ operation: 'contacts.retrieve', method: 'GET', path: `/v1/contacts/${contact.id}` }} />
      }
    >
      <Stack>
        <Done text={done} />
        <Actions contact={contact} onDone={setDone} />
        <SimpleGrid cols={{ base: 1, md: 2 }}>
          <Region title={text.contacts.about}>
            <ContactAbout contact={contact} />
          </Region>
          <Region title={text.contacts.timeline}>
            <ContactTimeline contact={contact} />
          </Region>
          <Region title={text.contacts.tagsRegion}>
            <ContactTags contact={contact} />
          </Region>
          <Region title={text.contacts.attributes}>
            <ContactAttributes contact={contact} />
          </Region>
        </SimpleGrid>
        <ConsentHistory id={contact.id} />
      </Stack>
    </Screen>
  )
}

function Actions({ contact, onDone }: { contact: Contact; onDone: (done: string) => void }) {
  const place = usePlace()
  const stale = useStale(place)
  const because = useBecause(place)
  const [open, setOpen] = useState<'edit' | 'delete'>()
  const words = text.contacts
  const block = useAction(
    (blocked: boolean) =>
      answered(v1(place).PATCH('/v1/contacts/{id}', { body: { blocked }, params: { path: { id: contact.id } } })),
    async ({ blocked }) => {
      await stale('contacts.')
      onDone(blocked ? words.nowBlocked : words.nowUnblocked)
    },
  )
  const takeOut = useTakeOut(contact, () => onDone(words.takenOut))
  const remove = useRemove(contact)
  const problem = block.problem ?? takeOut.problem
  const mayNot = because('contacts:write')
  return (
    <>
      {problem !== undefined && <ProblemAlert problem={problem} />}
      <Group gap="xs">
        <ActionButton label={words.edit} variant="default" because={mayNot} onPress={() => setOpen('edit')} />
        <ActionButton
          label={contact.blocked ? words.unblock : words.block}
          variant="default"
          because={mayNot}
          loading={block.isRunning}
          onPress={() => block.run(!contact.blocked)}
        />
        <ActionButton
          label={words.takeOut}
          variant="default"
          because={because('export')}
          loading={takeOut.isRunning}
          onPress={() => takeOut.run(contact.id)}
        />
        <ActionButton label={words.delete} variant="default" because={mayNot} onPress={() => setOpen('delete')} />
      </Group>
      {open === 'edit' && (
        <ContactDialog
          stored={contact}
          onClose={() => setOpen(undefined)}
          onSaved={(saved) => {
            setOpen(undefined)
            onDone(words.saved(nameOf(saved)))
          }}
        />
      )}
      <ConfirmDialog
        title={words.delete}
        why={words.confirmDelete}
        isOpen={open === 'delete'}
        onClose={() => setOpen(undefined)}
        action={remove}
        onConfirm={() => remove.run(contact.id)}
      />
    </>
  )
}

/** Everything that is kept about the contact, as a file. */
function useTakeOut({ id }: Contact, onDone: () => void) {
  const place = usePlace()
  return useAction(
    () => answered(v1(place).GET('/v1/contacts/{id}/export', { params: { path: { id } }, parseAs: 'text' })),
    (json) => {
      downloadFile(`${id}.json`, json)
      onDone()
    },
  )
}

function useRemove(contact: Contact) {
  const place = usePlace()
  const stale = useStale(place)
  const navigate = useNavigate()
  return useAction(
    (id: string) => answered(v1(place).DELETE('/v1/contacts/{id}', { params: { path: { id } } })),
    async () => {
      await navigate({
        to: pathTo(place, 'contacts') as never,
        state: { done: text.contacts.deleted(nameOf(contact)) },
      })
      await stale('contacts.list')
    },
  )
}

/** What is known of a contact. */
function ContactAbout({ contact }: { contact: Contact }) {
  const time = useTime()
  const { facts, consentSaid, blocked } = text.contacts
  return (
    <>
      {contact.blocked && (
        <Alert color="red" variant="outline" mb="sm" role="note">
          {blocked}
        </Alert>
      )}
      <Facts
        of={[
          [facts.phone, contact.phone],
          [facts.email, contact.email],
          ...Object.entries(contact.identifiers).map(
            ([type, identifier]) => [facts.identifier(inWords(type)), identifier] as const,
          ),
          ...Object.entries(contact.consent).map(
            ([type, { status, source }]) =>
              [facts.consent(inWords(type)), consentSaid(inWords(status), inWords(source))] as const,
          ),
          [facts.country, contact.country],
          [facts.locale, contact.locale],
          [facts.timezone, contact.timezone],
          [facts.externalId, contact.external_id],
          [facts.seen, contact.last_seen_at === null ? null : time(contact.last_seen_at)],
          [facts.lastMessage, contact.last_message_at === null ? null : time(contact.last_message_at)],
          [facts.created, time(contact.created_at)],
        ]}
      />
    </>
  )
}

function ContactAttributes({ contact: { attributes, metadata } }: { contact: Contact }) {
  const { noAttributes, metadata: own } = text.contacts
  const hasMetadata = Object.keys(metadata).length > 0
  if (Object.keys(attributes).length === 0 && !hasMetadata) return <Text c="dimmed">{noAttributes}</Text>
  return (
    <Facts
      of={[
        ...Object.entries(attributes).map(([name, value]) => [name, String(value)] as const),
        [own, hasMetadata ? <Code key="metadata">{JSON.stringify(metadata)}</Code> : null],
      ]}
    />
  )
}

/** The tags of a contact: each can be taken away, and one added. */
function ContactTags({ contact: { id, tags } }: { contact: Contact }) {
  const place = usePlace()
  const stale = useStale(place)
  const because = useBecause(place)('contacts:write')
  const [typed, setTyped] = useState('')
  const change = useAction(
    (by: { add?: string[]; remove?: string[] }, key) =>
      answered(
        v1(place).POST('/v1/contacts/tags', { body: { contacts: [id], ...by }, headers: { 'Idempotency-Key': key } }),
      ),
    async (_, { add }) => {
      if (add !== undefined) setTyped('')
      await stale('contacts.')
    },
  )
  const words = text.contacts
  return (
    <Stack gap="sm">
      {tags.length === 0 && <Text c="dimmed">{words.noTags}</Text>}
      <Group gap="xs">
        {tags.map((tag) => (
          <Badge
            key={tag}
            variant="outline"
            color="gray"
            c="inherit"
            size="lg"
            tt="none"
            fw={500}
            className="tag"
            rightSection={
              because === undefined && (
                <CloseButton
                  size="sm"
                  variant="transparent"
                  c="inherit"
                  aria-label={words.removeTag(tag)}
                  onClick={() => change.run({ remove: [tag] })}
                />
              )
            }
          >
            <bdi>{tag}</bdi>
          </Badge>
        ))}
      </Group>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (because === undefined && typed.trim() !== '') change.run({ add: [typed.trim()] })
        }}
      >
        <Group align="flex-end" gap="xs">
          <TextField label={words.newTag} value={typed} onChange={setTyped} />
          {because === undefined ? (
            <Button type="submit" variant="default" loading={change.isRunning}>
              {words.addTag}
            </Button>
          ) : (
            <ActionButton label={words.addTag} variant="default" because={because} onPress={() => undefined} />
          )}
        </Group>
      </form>
      {change.problem !== undefined && <ProblemAlert problem={change.problem} />}
    </Stack>
  )
}

/** A contact, as the screens name it. */
export type Contact = components['schemas']['Contact']

/** What people call it: its name, or else what it is reached by. */
export const nameOf = ({ full_name, phone, email, identifiers, id }: Contact): string =>
  full_name ?? phone ?? email ?? Object.values(identifiers)[0] ?? id
