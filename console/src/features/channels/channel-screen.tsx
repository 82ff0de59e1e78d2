/** One channel: details, settings, credentials and actions. */
import { Button, Checkbox, Group, Stack, Text } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { unwrap, problemOf, v1 } from '../../api/client.ts'
import type { operations } from '../../api/generated/v1.ts'
import { useDisabledReason } from '../../api/session.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { useInvalidate } from '../../api/use-api-query.ts'
import { pathTo, type Workspace, useWorkspace } from '../../app/paths.ts'
import { SuccessNotice, ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ApiButton } from '../../components/feedback/api-button.tsx'
import { Dialog } from '../../components/feedback/dialog.tsx'
import { NotFound, Screen, LoadingIndicator } from '../../components/feedback/screen.tsx'
import { ActionButton, DeleteButton } from '../../components/form/action-button.tsx'
import { TextField } from '../../components/form/fields.tsx'
import { DescriptionList, Region } from '../../components/format/facts.tsx'
import { useTimeFormat } from '../../components/format/intl.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { text } from '../../text/en.ts'
import { type Channel, hasTemplates, Health, rateOf, useChannel } from './channel.tsx'
import { providerOf } from './connect-channel-screen.tsx'
import { ConnectedPanel } from './connected-panel.tsx'
import { type StoredDraft, ProviderFields, valuesOf } from './provider-fields.tsx'

const { channels: words } = text

export function ChannelScreen() {
  const workspace = useWorkspace()
  const { id } = useParams({ strict: false }) as { id: string }
  const query = useChannel(workspace, id)
  if (query.data === undefined) {
    if (query.error === null) return <LoadingIndicator />
    const problem = problemOf(query.error)
    return problem.code === 'resource_missing' ? (
      <NotFound />
    ) : (
      <ProblemAlert problem={problem} onRetry={() => void query.refetch()} />
    )
  }
  return <ShownChannel workspace={workspace} channel={query.data} />
}

function ShownChannel({ workspace, channel }: { workspace: Workspace; channel: Channel }) {
  const time = useTimeFormat()
  const isSandbox = workspace.mode === 'test'
  return (
    <Screen
      title={channel.name}
      mode={workspace.mode}
      actions={
        <ApiButton request={{ operation: 'channels.retrieve', method: 'GET', path: `/v1/channels/${channel.id}` }} />
      }
    >
      <Stack>
        <Region title={words.one.facts}>
          <DescriptionList
            of={[
              [words.columns.health, <Health key="health" of={channel} />],
              [words.one.id, channel.id],
              [words.columns.type, channel.type],
              [words.columns.provider, channel.provider],
              [words.columns.identifier, channel.identifier],
              [words.columns.rate, rateOf(channel)],
              [words.one.carries, channel.capabilities.join(', ')],
              [words.one.createdAt, isSandbox ? null : time(channel.created_at)],
            ]}
          />
          {hasTemplates(channel) && (
            <PathLink to={pathTo(workspace, 'templates')} search={{ channel: channel.id }}>
              {words.one.templates}
            </PathLink>
          )}
        </Region>
        <ChannelActions workspace={workspace} channel={channel} />
        <ConnectedPanel workspace={workspace} channel={channel} />
      </Stack>
    </Screen>
  )
}

function useReconnect(workspace: Workspace, onDone: () => unknown) {
  return useApiMutation(
    (id: string, key) =>
      unwrap(
        v1(workspace).POST('/v1/channels/{id}/reconnect', {
          params: { path: { id } },
          headers: { 'Idempotency-Key': key },
        }),
      ),
    onDone,
  )
}

function useStatusChange(workspace: Workspace, id: string, onDone: () => unknown) {
  return useApiMutation(
    (status: 'active' | 'disabled') =>
      unwrap(v1(workspace).PATCH('/v1/channels/{id}', { params: { path: { id } }, body: { status } })),
    onDone,
  )
}

function ChannelActions({ workspace, channel }: { workspace: Workspace; channel: Channel }) {
  const invalidate = useInvalidate(workspace)
  const [isChanging, setChanging] = useState(false)
  const [done, setDone] = useState('')
  const allowed = useDisabledReason(workspace)
  const notYours = allowed('channels:write')
  const disabledReason = workspace.mode === 'test' ? words.one.sandbox : notYours
  const notReconnected = workspace.mode === 'test' ? words.one.sandbox : allowed('channels:write', 'channels.reconnect')
  const fresh = (said: string) => {
    setDone(said)
    return invalidate('channels.')
  }
  const reconnect = useReconnect(workspace, () => fresh(words.one.reconnected))
  const enabling = useStatusChange(workspace, channel.id, () => fresh(words.one.saved))
  const problem = reconnect.problem ?? enabling.problem
  const isOff = channel.status === 'disabled'
  return (
    <div>
      <div className="actions">
        <ActionButton
          label={words.one.reconnect}
          variant="default"
          disabledReason={notReconnected}
          loading={reconnect.isRunning}
          onPress={() => reconnect.run(channel.id)}
        />
        <ActionButton
          label={words.one.edit}
          variant="default"
          disabledReason={disabledReason}
          onPress={() => setChanging(true)}
        />
        <ActionButton
          label={isOff ? words.one.enable : words.one.disable}
          variant="default"
          disabledReason={disabledReason}
          loading={enabling.isRunning}
          onPress={() => enabling.run(isOff ? 'active' : 'disabled')}
        />
        <DeleteChannel workspace={workspace} channel={channel} disabledReason={disabledReason} />
      </div>
      {problem !== undefined && <ProblemAlert problem={problem} />}
      <SuccessNotice text={done} />
      {isChanging && (
        <ChangeChannelDialog
          workspace={workspace}
          channel={channel}
          onClose={() => setChanging(false)}
          onSaved={() => {
            setChanging(false)
            return fresh(words.one.saved)
          }}
        />
      )}
    </div>
  )
}

const DeleteChannel = ({
  workspace,
  channel,
  disabledReason,
}: {
  workspace: Workspace
  channel: Channel
  disabledReason: string | undefined
}) => (
  <DeleteButton
    workspace={workspace}
    id={channel.id}
    words={{ delete: words.one.delete, deleteWhy: words.one.deleteWhy(channel.name) }}
    disabledReason={disabledReason}
    remove={(id) => v1(workspace).DELETE('/v1/channels/{id}', { params: { path: { id } } })}
    section="channels"
    invalidate={['channels.list']}
  />
)

const { form: changeWords, one } = text.channels

type Change = NonNullable<operations['channels.update']['requestBody']>['content']['application/json']

/** Credentials are replaced as a whole. */
interface ChangeChannelDialogProps {
  readonly workspace: Workspace
  readonly channel: Channel
  readonly onClose: () => void
  readonly onSaved: () => unknown
}

function ChangeChannelDialog({ workspace, channel, onClose, onSaved }: ChangeChannelDialogProps) {
  const provider = providerOf(channel)
  const [name, setName] = useState(channel.name)
  const [settings, setSettings] = useState<StoredDraft>(() => enteredOf(channel.settings))
  const [isRenewing, setRenewing] = useState(false)
  const [credentials, setCredentials] = useState<StoredDraft>({})
  const action = useApiMutation(
    (body: Change) => unwrap(v1(workspace).PATCH('/v1/channels/{id}', { params: { path: { id: channel.id } }, body })),
    onSaved,
  )
  const fields = [rateField, ...(provider?.settings ?? [])]
  const save = () =>
    action.run({
      name: name.trim(),
      settings: { ...unknownOf(channel.settings, fields), ...valuesOf(fields, settings) },
      ...(isRenewing && provider !== undefined ? { credentials: valuesOf(provider.credentials, credentials) } : {}),
    })
  const { problem } = action
  return (
    <Dialog title={one.edit} isOpen onClose={onClose}>
      <Stack>
        <TextField label={changeWords.name} value={name} onChange={setName} param="name" problem={problem} />
        <ProviderFields
          fields={fields}
          within="settings"
          storedDraft={settings}
          onChange={setSettings}
          problem={problem}
        />
        {provider !== undefined && (
          <Checkbox
            label={one.renew}
            checked={isRenewing}
            onChange={(event) => setRenewing(event.currentTarget.checked)}
          />
        )}
        {isRenewing && provider !== undefined && (
          <>
            <Text size="sm">{changeWords.encrypted}</Text>
            <ProviderFields
              fields={provider.credentials}
              within="credentials"
              storedDraft={credentials}
              onChange={setCredentials}
              problem={problem}
            />
          </>
        )}
        {problem !== undefined && <ProblemAlert problem={problem} />}
        <Group justify="flex-end">
          <Button loading={action.isRunning} onClick={save}>
            {one.save}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}

const rateField = {
  name: 'max_messages_per_second',
  label: changeWords.rate,
  hint: changeWords.rateHint,
  kind: 'number',
  required: false,
  choices: [],
  fallback: '',
} as const

const enteredOf = (settings: Channel['settings']): StoredDraft =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, value === null ? '' : String(value)]))

const unknownOf = (settings: Channel['settings'], fields: readonly { readonly name: string }[]): Channel['settings'] =>
  Object.fromEntries(Object.entries(settings).filter(([name]) => !fields.some((field) => field.name === name)))
