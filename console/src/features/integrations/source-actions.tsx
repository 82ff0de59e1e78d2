/** Actions on a source. */
import { Button, Checkbox, Group, Stack } from '@mantine/core'
import { useState } from 'react'
import { unwrap, v1, type Problem } from '../../api/client.ts'
import type { operations } from '../../api/generated/v1.ts'
import { useDisabledReason } from '../../api/session.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { useInvalidate } from '../../api/use-api-query.ts'
import type { Workspace } from '../../app/paths.ts'
import { SuccessNotice, ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ConfirmDialog, Dialog, SecretDialog } from '../../components/feedback/dialog.tsx'
import { ActionButton, DeleteButton } from '../../components/form/action-button.tsx'
import { ChoiceField, PasswordField, TextField } from '../../components/form/fields.tsx'
import { text } from '../../text/en.ts'
import type { Source, SourceSecrets } from './sources-screen.tsx'

const words = text.integrations.one

interface ActionProps {
  readonly workspace: Workspace
  readonly source: Source
  readonly disabledReason: string | undefined
}

export function SourceActions({ workspace, source }: { workspace: Workspace; source: Source }) {
  const invalidate = useInvalidate(workspace)
  const disabledReason = useDisabledReason(workspace)('integrations:write')
  const [isChanging, setChanging] = useState(false)
  const [done, setDone] = useState('')
  const enabling = useApiMutation(
    ({ id, status }: { id: string; status: 'active' | 'disabled' }) =>
      unwrap(v1(workspace).PATCH('/v1/integration_sources/{id}', { params: { path: { id } }, body: { status } })),
    async ({ status }) => {
      setDone(status === 'active' ? words.enabled : words.disabled)
      await invalidate('integration_sources.')
    },
  )
  const isOff = source.status === 'disabled'
  return (
    <div>
      <div className="actions">
        <ActionButton
          label={words.change}
          variant="default"
          disabledReason={disabledReason}
          onPress={() => setChanging(true)}
        />
        <RollButton workspace={workspace} source={source} disabledReason={disabledReason} />
        <ActionButton
          label={isOff ? words.enable : words.disable}
          variant="default"
          disabledReason={disabledReason}
          loading={enabling.isRunning}
          onPress={() => enabling.run({ id: source.id, status: isOff ? 'active' : 'disabled' })}
        />
        <DeleteButton
          workspace={workspace}
          id={source.id}
          words={words}
          disabledReason={disabledReason}
          remove={(id) => v1(workspace).DELETE('/v1/integration_sources/{id}', { params: { path: { id } } })}
          section="integrations"
          invalidate={['integration_sources.list', 'automations.']}
        />
      </div>
      {enabling.problem !== undefined && <ProblemAlert problem={enabling.problem} />}
      <SuccessNotice text={done} />
      {isChanging && (
        <ChangeSource
          workspace={workspace}
          source={source}
          onClose={() => setChanging(false)}
          onSaved={() => {
            setChanging(false)
            setDone(words.saved)
            return invalidate('integration_sources.')
          }}
        />
      )}
    </div>
  )
}

function RollButton({ workspace, source, disabledReason }: ActionProps) {
  const invalidate = useInvalidate(workspace)
  const [isAsking, setAsking] = useState(false)
  const [made, setMade] = useState<SourceSecrets>()
  const action = useApiMutation(
    (id: string, key) =>
      unwrap(
        v1(workspace).POST('/v1/integration_sources/{id}/roll_key', {
          params: { path: { id } },
          headers: { 'Idempotency-Key': key },
        }),
      ),
    async (rolled) => {
      setAsking(false)
      setMade(rolled)
      await invalidate('integration_sources.')
    },
  )
  return (
    <>
      <ActionButton
        label={words.roll}
        variant="default"
        disabledReason={disabledReason}
        onPress={() => setAsking(true)}
      />
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

interface ChangeSourceProps {
  readonly workspace: Workspace
  readonly source: Source
  readonly onClose: () => void
  readonly onSaved: () => unknown
}

type SourceDraft = Source['settings'] & { readonly name: string; readonly url: string; readonly secret: string }

interface SourceFieldsProps {
  readonly draft: SourceDraft
  readonly onChange: (draft: SourceDraft) => void
  readonly problem: Problem | undefined
}

function SourceFields({ draft, onChange, problem }: SourceFieldsProps) {
  return (
    <>
      <TextField
        label={text.integrations.form.name}
        value={draft.name}
        onChange={(name) => onChange({ ...draft, name })}
        param="name"
        problem={problem}
      />
      <TextField
        label={text.integrations.form.url}
        value={draft.url}
        onChange={(url) => onChange({ ...draft, url })}
        param="url"
        problem={problem}
      />
      <ChoiceField
        label={words.consent}
        choices={(['implied', 'explicit'] as const).map((value) => ({ value, label: words.consents[value] }))}
        value={draft.consent_mode}
        onChange={(consent_mode) => onChange({ ...draft, consent_mode })}
      />
      <Checkbox
        label={words.sync}
        checked={draft.contact_sync}
        onChange={(event) => onChange({ ...draft, contact_sync: event.currentTarget.checked })}
      />
      <Checkbox
        label={words.all}
        checked={draft.store_all_events}
        onChange={(event) => onChange({ ...draft, store_all_events: event.currentTarget.checked })}
      />
      <PasswordField
        label={words.secret}
        hint={words.secretHint}
        value={draft.secret}
        onChange={(secret) => onChange({ ...draft, secret })}
        param="signing_secret"
        problem={problem}
        autoComplete="new-password"
      />
    </>
  )
}

function ChangeSource({ workspace, source, onClose, onSaved }: ChangeSourceProps) {
  const [draft, setDraft] = useState<SourceDraft>({
    name: source.name,
    url: source.url ?? '',
    secret: '',
    ...source.settings,
  })
  const action = useApiMutation(
    (body: Change) =>
      unwrap(v1(workspace).PATCH('/v1/integration_sources/{id}', { params: { path: { id: source.id } }, body })),
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
        <SourceFields draft={draft} onChange={setDraft} problem={problem} />
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
