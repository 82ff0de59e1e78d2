/** Changes a source: its name and address, what its events mean for contacts, and the secret of its webhooks. */
import { Button, Checkbox, Group, Stack } from '@mantine/core'
import { useState } from 'react'
import { answered, v1 } from '../../api/client.ts'
import type { operations } from '../../api/generated/v1.ts'
import { useAction } from '../../api/use-action.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { ChoiceField, PasswordField, TextField } from '../../parts/fields.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import type { Place } from '../../paths.ts'
import { text } from '../../text/en.ts'
import type { Source } from './source.ts'

const words = text.integrations.one

type Change = NonNullable<operations['integration_sources.update']['requestBody']>['content']['application/json']

export interface ChangeSourceProps {
  readonly place: Place
  readonly source: Source
  readonly onClose: () => void
  readonly onSaved: () => unknown
}

export function ChangeSource({ place, source, onClose, onSaved }: ChangeSourceProps) {
  const [draft, setDraft] = useState({ name: source.name, url: source.url ?? '', secret: '', ...source.settings })
  const action = useAction(
    (body: Change) =>
      answered(v1(place).PATCH('/v1/integration_sources/{id}', { params: { path: { id: source.id } }, body })),
    onSaved,
  )
  const { problem } = action
  const save = () =>
    action.run({
      name: draft.name.trim(),
      url: draft.url.trim() === '' ? null : draft.url.trim(),
      ...(draft.secret === '' ? {} : { signing_secret: draft.secret }),
      settings: {
        contact_sync: draft.contact_sync,
        consent_mode: draft.consent_mode === 'explicit' ? 'explicit' : 'implied',
        store_all_events: draft.store_all_events,
      },
    })
  return (
    <Dialog title={words.change} isOpen onClose={onClose}>
      <Stack>
        <TextField
          label={text.integrations.form.name}
          value={draft.name}
          onChange={(name) => setDraft({ ...draft, name })}
          param="name"
          problem={problem}
        />
        <TextField
          label={text.integrations.form.url}
          value={draft.url}
          onChange={(url) => setDraft({ ...draft, url })}
          param="url"
          problem={problem}
        />
        <ChoiceField
          label={words.consent}
          choices={(['implied', 'explicit'] as const).map((value) => ({ value, label: words.consents[value] }))}
          value={draft.consent_mode}
          onChange={(consent_mode) => setDraft({ ...draft, consent_mode })}
        />
        <Checkbox
          label={words.sync}
          checked={draft.contact_sync}
          onChange={(event) => setDraft({ ...draft, contact_sync: event.currentTarget.checked })}
        />
        <Checkbox
          label={words.all}
          checked={draft.store_all_events}
          onChange={(event) => setDraft({ ...draft, store_all_events: event.currentTarget.checked })}
        />
        <PasswordField
          label={words.secret}
          hint={words.secretHint}
          value={draft.secret}
          onChange={(secret) => setDraft({ ...draft, secret })}
          param="signing_secret"
          problem={problem}
          autoComplete="new-password"
        />
        {problem !== undefined && <ProblemAlert problem={problem} />}
        <Group justify="flex-end">
          <Button loading={action.isRunning} onClick={save}>
            {words.save}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
