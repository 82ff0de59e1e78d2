/** A new contact list. */
import { Button, Group, Stack } from '@mantine/core'
import { answered, v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { useAction } from '../../api/use-action.ts'
import { useStale } from '../../api/use-stale.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { LongTextField, TextField } from '../../parts/fields.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { useDraft } from '../../parts/use-draft.ts'
import { usePlace } from '../../parts/use-place.ts'
import { text } from '../../text/en.ts'

type ContactList = components['schemas']['ContactList']

export function NewList({ onClose, onSaved }: { onClose: () => void; onSaved: (list: ContactList) => void }) {
  const place = usePlace()
  const stale = useStale(place)
  const [draft, change, forget] = useDraft(place, 'list', { name: '', description: '' })
  const save = useAction(
    (body: { name: string; description?: string }, key) =>
      answered(v1(place).POST('/v1/contact_lists', { body, headers: { 'Idempotency-Key': key } })),
    async (list) => {
      forget()
      await stale('contact_lists.')
      onSaved(list)
    },
  )
  const words = text.contactLists
  const isAtField = save.problem?.about('name') !== undefined || save.problem?.about('description') !== undefined
  return (
    <Dialog title={words.create} isOpen onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          save.run({ name: draft.name, ...(draft.description === '' ? {} : { description: draft.description }) })
        }}
      >
        <Stack>
          <TextField
            label={words.name}
            value={draft.name}
            onChange={(name) => change({ ...draft, name })}
            param="name"
            problem={save.problem}
            required
          />
          <LongTextField
            label={words.description}
            value={draft.description}
            onChange={(description) => change({ ...draft, description })}
            param="description"
            problem={save.problem}
          />
          {save.problem !== undefined && !isAtField && <ProblemAlert problem={save.problem} />}
          <Group justify="flex-end">
            <Button type="submit" loading={save.isRunning}>
              {words.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
