/** What can be done with a source: changed, given a new key, disabled, deleted. */
import { Button, Checkbox, Group, Stack } from '@mantine/core'
import { useState } from 'react'
import { answered, v1 } from '../../api/client.ts'
import type { operations } from '../../api/generated/v1.ts'
import { useBecause } from '../../api/session.ts'
import { useAction } from '../../api/use-action.ts'
import { useStale } from '../../api/use-api-query.ts'
import type { Place } from '../../app/paths.ts'
import { Done, ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ConfirmDialog, Dialog, SecretDialog } from '../../components/feedback/dialog.tsx'
import { ActionButton, DeleteButton } from '../../components/form/action-button.tsx'
import { ChoiceField, PasswordField, TextField } from '../../components/form/fields.tsx'
import { text } from '../../text/en.ts'
import type { Source, SourceSecrets } from './sources-screen.tsx'

const words = text.integrations.one

interface ActionProps {
  readonly place: Place
  readonly source: Source
  readonly because: string | undefined
}

export function SourceActions({ place, source }: { place: Place; source: Source }) {
  const stale = useStale(place)
  const because = useBecause(place)('integrations:write')
  const [isChanging, setChanging] = useState(false)
  const [done, setDone] = useState('')
  const enabling = useAction(
    ({ id, status }: { id: string; status: 'active' | 'disabled' }) =>
      answered(v1(place).PATCH('/v1/integration_sources/{id}', { params: { path: { id } }, body: { status } })),
    async ({ status }) => {
      setDone(status === 'active' ? words.enabled : words.disabled)
      await stale('integration_sources.')
    },
  )
  const isOff = source.status === 'disabled'
  return (
    <div>
      <div className="actions">
        <ActionButton label={words.change} variant="default" because={because} onPress={() => setChanging(true)} />
        <RollButton place={place} source={source} because={because} />
        <ActionButton
          label={isOff ? words.enable : words.disable}
          variant="default"
          because={because}
          loading={enabling.isRunning}
          onPress={() => enabling.run({ id: source.id, status: isOff ? 'active' : 'disabled' })}
        />
        <DeleteButton
          place={place}
          id={source.id}
          words={words}
          because={because}
          remove={(id) => v1(place).DELETE('/v1/integration_sources/{id}', { params: { path: { id } } })}
          section="integrations"
          stale={['integration_sources.list', 'automations.']}
        />
      </div>
      {enabling.problem !== undefined && <ProblemAlert problem={enabling.problem} />}
      <Done text={done} />
      {isChanging && (
        <ChangeSource
          place={place}
          source={source}
          onClose={() => setChanging(false)}
          onSaved={() => {
            setChanging(false)
            setDone(words.saved)
            return stale('integration_sources.')
          }}
        />
      )}
    </div>
  )
}

function RollButton({ place, source, because }: ActionProps) {
  const stale = useStale(place)
  const [isAsking, setAsking] = useState(false)
  const [made, setMade] = useState<SourceSecrets>()
  const action = useAction(
    (id: string, key) =>
      answered(
        v1(place).POST('/v1/integration_sources/{id}/roll_key', {
          params: { path: { id } },
          headers: { 'Idempotency-Key': key },
        }),
      ),
    async (rolled) => {
      setAsking(false)
      setMade(rolled)
      await stale('integration_sources.')
    },
  )
  return (
    <>
      <ActionButton label={words.roll} variant="default" because={because} onPress={() => setAsking(true)} />
      <ConfirmDialog
        title={words.roll}
        why={words.rollWhy}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        action={action}
        onConfirm={() => action.run(source.id)}
      />
      <SecretDialog
        title={text.integrations.form.key}
        secret={made?.source_key}
        also={made === undefined ? undefined : { label: text.integrations.form.signing, secret: made.signing_secret }}
        onStored={() => setMade(undefined)}
      />
    </>
  )
}

type Change = NonNullable<operations['integration_sources.update']['requestBody']>['content']['application/json']

/** Changes a source: its name and address, what its events mean for contacts, and the secret of its webhooks. */
interface ChangeSourceProps {
  readonly place: Place
  readonly source: Source
  readonly onClose: () => void
  readonly onSaved: () => unknown
}

function ChangeSource({ place, source, onClose, onSaved }: ChangeSourceProps) {
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
