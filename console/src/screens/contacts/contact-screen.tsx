/** A contact: what is known, what has passed between it and the account, its consent and how it came to be. */
import { Group, SimpleGrid, Stack } from '@mantine/core'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { answered, v1 } from '../../api/client.ts'
import { useBecause } from '../../api/may.ts'
import { useAction } from '../../api/use-action.ts'
import { useRead } from '../../api/use-read.ts'
import { useStale } from '../../api/use-stale.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { ApiButton } from '../../parts/api-button.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { Done } from '../../parts/done.tsx'
import { downloadFile } from '../../parts/download.ts'
import { Region } from '../../parts/facts.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { Screen } from '../../parts/screen.tsx'
import { usePlace } from '../../parts/use-place.ts'
import { pathTo } from '../../paths.ts'
import { text } from '../../text/en.ts'
import { ConsentHistory } from './consent-history.tsx'
import { ContactAbout, ContactAttributes } from './contact-about.tsx'
import { ContactDialog } from './contact-dialog.tsx'
import { ContactTags } from './contact-tags.tsx'
import { ContactTimeline } from './contact-timeline.tsx'
import { nameOf, type Contact } from './contact.ts'

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
