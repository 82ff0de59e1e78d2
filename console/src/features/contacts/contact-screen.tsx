/** One contact. */
import { Alert, Badge, Button, CloseButton, Code, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { unwrap, v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { useDisabledReason } from '../../api/session.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { useApiQuery, useInvalidate } from '../../api/use-api-query.ts'
import { pathTo, useWorkspace } from '../../app/paths.ts'
import { SuccessNotice, ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ApiButton } from '../../components/feedback/api-button.tsx'
import { ConfirmDialog } from '../../components/feedback/dialog.tsx'
import { QueryScreen, Screen } from '../../components/feedback/screen.tsx'
import { ActionButton } from '../../components/form/action-button.tsx'
import { TextField } from '../../components/form/fields.tsx'
import { downloadFile } from '../../components/format/csv.ts'
import { DescriptionList, Region } from '../../components/format/facts.tsx'
import { useTimeFormat } from '../../components/format/intl.tsx'
import { humanize, text } from '../../text/en.ts'
import { ContactDialog } from './contact-dialog.tsx'
import { ConsentHistory, ContactTimeline } from './contact-history.tsx'

export function ContactScreen() {
  const workspace = useWorkspace()
  const { id } = useParams({ strict: false }) as { id: string }
  const contact = useApiQuery(workspace, ['contacts.retrieve', id], () =>
    v1(workspace).GET('/v1/contacts/{id}', { params: { path: { id } } }),
  )
  return (
    <QueryScreen title={text.screens.contacts} query={contact}>
      {(shown) => <Shown key={id} contact={shown} />}
    </QueryScreen>
  )
}

function Shown({ contact }: { contact: Contact }) {
  const { mode } = useWorkspace()
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
        <SuccessNotice text={done} />
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
  const workspace = useWorkspace()
  const disabledReason = useDisabledReason(workspace)
  const [open, setOpen] = useState<'edit' | 'delete'>()
  const words = text.contacts
  const block = useBlock(contact, (blocked) => onDone(blocked ? words.nowBlocked : words.nowUnblocked))
  const exportData = useExportData(contact, () => onDone(words.takenOut))
  const remove = useRemove(contact)
  const problem = block.problem ?? exportData.problem
  const mayNot = disabledReason('contacts:write')
  return (
    <>
      {problem !== undefined && <ProblemAlert problem={problem} />}
      <Group gap="xs">
        <ActionButton label={words.edit} variant="default" disabledReason={mayNot} onPress={() => setOpen('edit')} />
        <ActionButton
          label={contact.blocked ? words.unblock : words.block}
          variant="default"
          disabledReason={mayNot}
          loading={block.isRunning}
          onPress={() => block.run(!contact.blocked)}
        />
        <ActionButton
          label={words.exportData}
          variant="default"
          disabledReason={disabledReason('export')}
          loading={exportData.isRunning}
          onPress={() => exportData.run(contact.id)}
        />
        <ActionButton
          label={words.delete}
          variant="default"
          disabledReason={mayNot}
          onPress={() => setOpen('delete')}
        />
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

function useBlock({ id }: Contact, onDone: (blocked: boolean) => void) {
  const workspace = useWorkspace()
  const invalidate = useInvalidate(workspace)
  return useApiMutation(
    (blocked: boolean) =>
      unwrap(v1(workspace).PATCH('/v1/contacts/{id}', { body: { blocked }, params: { path: { id } } })),
    async ({ blocked }) => {
      await invalidate('contacts.')
      onDone(blocked)
    },
  )
}

function useExportData({ id }: Contact, onDone: () => void) {
  const workspace = useWorkspace()
  return useApiMutation(
    () => unwrap(v1(workspace).GET('/v1/contacts/{id}/export', { params: { path: { id } }, parseAs: 'text' })),
    (json) => {
      downloadFile(`${id}.json`, json)
      onDone()
    },
  )
}

function useRemove(contact: Contact) {
  const workspace = useWorkspace()
  const invalidate = useInvalidate(workspace)
  const navigate = useNavigate()
  return useApiMutation(
    (id: string) => unwrap(v1(workspace).DELETE('/v1/contacts/{id}', { params: { path: { id } } })),
    async () => {
      await navigate({
        to: pathTo(workspace, 'contacts') as never,
        state: { done: text.contacts.deleted(nameOf(contact)) },
      })
      await invalidate('contacts.list')
    },
  )
}

function ContactAbout({ contact }: { contact: Contact }) {
  const time = useTimeFormat()
  const { facts, consentSaid, blocked } = text.contacts
  return (
    <>
      {contact.blocked && (
        <Alert color="red" variant="outline" mb="sm" role="note">
          {blocked}
        </Alert>
      )}
      <DescriptionList
        of={[
          [facts.phone, contact.phone],
          [facts.email, contact.email],
          ...Object.entries(contact.identifiers).map(
            ([type, identifier]) => [facts.identifier(humanize(type)), identifier] as const,
          ),
          ...Object.entries(contact.consent).map(
            ([type, { status, source }]) =>
              [facts.consent(humanize(type)), consentSaid(humanize(status), humanize(source))] as const,
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
    <DescriptionList
      of={[
        ...Object.entries(attributes).map(([name, value]) => [name, String(value)] as const),
        [own, hasMetadata ? <Code key="metadata">{JSON.stringify(metadata)}</Code> : null],
      ]}
    />
  )
}

function Tag({ tag, onRemove }: { tag: string; onRemove: (() => void) | undefined }) {
  return (
    <Badge
      variant="outline"
      color="gray"
      c="inherit"
      size="lg"
      tt="none"
      fw={500}
      className="tag"
      rightSection={
        onRemove !== undefined && (
          <CloseButton
            size="sm"
            variant="transparent"
            c="inherit"
            aria-label={text.contacts.removeTag(tag)}
            onClick={onRemove}
          />
        )
      }
    >
      <bdi>{tag}</bdi>
    </Badge>
  )
}

function ContactTags({ contact: { id, tags } }: { contact: Contact }) {
  const workspace = useWorkspace()
  const invalidate = useInvalidate(workspace)
  const disabledReason = useDisabledReason(workspace)('contacts:write')
  const [typed, setTyped] = useState('')
  const change = useApiMutation(
    (by: { add?: string[]; remove?: string[] }, key) =>
      unwrap(
        v1(workspace).POST('/v1/contacts/tags', {
          body: { contacts: [id], ...by },
          headers: { 'Idempotency-Key': key },
        }),
      ),
    async (_, { add }) => {
      if (add !== undefined) setTyped('')
      await invalidate('contacts.')
    },
  )
  const words = text.contacts
  return (
    <Stack gap="sm">
      {tags.length === 0 && <Text c="dimmed">{words.noTags}</Text>}
      <Group gap="xs">
        {tags.map((tag) => (
          <Tag
            key={tag}
            tag={tag}
            onRemove={disabledReason === undefined ? () => change.run({ remove: [tag] }) : undefined}
          />
        ))}
      </Group>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (disabledReason === undefined && typed.trim() !== '') change.run({ add: [typed.trim()] })
        }}
      >
        <Group align="flex-end" gap="xs">
          <TextField label={words.newTag} value={typed} onChange={setTyped} />
          {disabledReason === undefined ? (
            <Button type="submit" variant="default" loading={change.isRunning}>
              {words.addTag}
            </Button>
          ) : (
            <ActionButton
              label={words.addTag}
              variant="default"
              disabledReason={disabledReason}
              onPress={() => undefined}
            />
          )}
        </Group>
      </form>
      {change.problem !== undefined && <ProblemAlert problem={change.problem} />}
    </Stack>
  )
}

export type Contact = components['schemas']['Contact']

export const nameOf = ({ full_name, phone, email, identifiers, id }: Contact): string =>
  full_name ?? phone ?? email ?? Object.values(identifiers)[0] ?? id
