/** Connects a channel, with fields from the provider's description. */
import { Anchor, Button, Fieldset, Group, Radio, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { unwrap, type Problem, v1 } from '../../api/client.ts'
import { providers } from '../../api/generated/providers.ts'
import type { components, operations } from '../../api/generated/v1.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { useInvalidate } from '../../api/use-api-query.ts'
import { pathTo, useWorkspace } from '../../app/paths.ts'
import { ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ApiButton } from '../../components/feedback/api-button.tsx'
import { Screen } from '../../components/feedback/screen.tsx'
import { ChoiceField, TextField } from '../../components/form/fields.tsx'
import { useDraft } from '../../components/form/use-draft.ts'
import { PathLink } from '../../components/format/links.tsx'
import { text } from '../../text/en.ts'
import { ConnectedPanel } from './connected-panel.tsx'
import { type StoredDraft, type ProviderField, ProviderFields, valuesOf } from './provider-fields.tsx'

export function ConnectChannelScreen() {
  const workspace = useWorkspace()
  const invalidate = useInvalidate(workspace)
  const [kept, keep, discard] = useDraft<ConnectDraft>(workspace, 'channel', emptyDraft)
  // secrets are never stored in the browser
  const [draft, setDraft] = useState(kept)
  const [connected, setConnected] = useState<components['schemas']['ConnectedChannel']>()
  const action = useApiMutation(
    (body: ChannelCreation, key) =>
      unwrap(v1(workspace).POST('/v1/channels', { body, headers: { 'Idempotency-Key': key } })),
    (channel) => {
      discard()
      setConnected(channel)
      return invalidate('channels.')
    },
  )
  const change = (next: ConnectDraft) => {
    setDraft(next)
    keep(withoutSecrets(next))
  }
  const words = text.channels
  const shown = creationOf(withoutSecrets(draft))
  return (
    <Screen
      title={words.connect}
      mode={workspace.mode}
      actions={
        <ApiButton request={{ operation: 'channels.create', method: 'POST', path: '/v1/channels', body: shown }} />
      }
    >
      {workspace.mode === 'test' ? (
        <Text>
          {words.liveOnly}{' '}
          <PathLink to={pathTo({ ...workspace, mode: 'live' }, 'channels', 'new')}>{words.goLive}</PathLink>
        </Text>
      ) : connected === undefined ? (
        <ConnectForm
          draft={draft}
          onChange={change}
          onSubmit={() => action.run(creationOf(draft))}
          problem={action.problem}
          isRunning={action.isRunning}
        />
      ) : (
        <ConnectedPanel workspace={workspace} channel={connected} verify_token={connected.verify_token} isNew />
      )}
    </Screen>
  )
}

const { form: words } = text.channels

interface ConnectFormProps {
  readonly draft: ConnectDraft
  readonly onChange: (draft: ConnectDraft) => void
  readonly onSubmit: () => void
  readonly problem: Problem | undefined
  readonly isRunning: boolean
}

function ConnectForm({ draft, onChange, onSubmit, problem, isRunning }: ConnectFormProps) {
  const provider = providerOf(draft)
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    >
      <Stack>
        <Radio.Group
          label={words.provider}
          value={draft.provider}
          error={problem?.about('provider')}
          onChange={(name) => onChange({ ...draft, provider: name, type: '', credentials: {}, settings: {} })}
        >
          <Stack gap="sm" mt="xs">
            {offered.map(({ name, title, about }) => (
              <Radio key={name} value={name} label={title} description={about} />
            ))}
          </Stack>
        </Radio.Group>
        {provider !== undefined && (
          <ChannelFields provider={provider} draft={draft} onChange={onChange} problem={problem} />
        )}
        {problem !== undefined && <ProblemAlert problem={problem} />}
        <Group>
          <Button type="submit" loading={isRunning} disabled={provider === undefined}>
            {words.connect}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

interface ChannelFieldsProps extends Pick<ConnectFormProps, 'draft' | 'onChange' | 'problem'> {
  readonly provider: OfferedProvider
}

function ChannelFields({ provider, draft, onChange, problem }: ChannelFieldsProps) {
  const field = (param: 'name' | 'identifier' | 'type') => ({
    param,
    problem,
    value: draft[param],
    onChange: (value: string) => onChange({ ...draft, [param]: value }),
  })
  return (
    <>
      {provider.guide !== null && (
        <Anchor href={`/docs/guides/${provider.guide}`} target="_blank" rel="noreferrer" underline="always" size="sm">
          {words.guide}
        </Anchor>
      )}
      {provider.types.length > 1 && <ChoiceField label={words.type} {...field('type')} choices={provider.types} />}
      <TextField label={words.name} {...field('name')} hint={words.nameHint} required />
      <TextField
        label={words.identifier}
        {...field('identifier')}
        hint={provider.identifier === 'from_provider' ? words.identifierFromProvider : words.given}
        required={provider.identifier !== 'from_provider'}
      />
      <Fieldset legend={words.credentials}>
        <Text size="sm" mb="sm">
          {words.encrypted}
        </Text>
        <ProviderFields
          fields={provider.credentials}
          within="credentials"
          storedDraft={draft.credentials}
          onChange={(credentials) => onChange({ ...draft, credentials })}
          problem={problem}
        />
      </Fieldset>
      <Fieldset legend={words.settings}>
        <Stack gap="sm">
          <TextField
            label={words.rate}
            hint={words.rateHint}
            value={draft.rate}
            onChange={(rate) => onChange({ ...draft, rate })}
            param="settings.max_messages_per_second"
            problem={problem}
          />
          <ProviderFields
            fields={provider.settings}
            within="settings"
            storedDraft={draft.settings}
            onChange={(settings) => onChange({ ...draft, settings })}
            problem={problem}
          />
        </Stack>
      </Fieldset>
    </>
  )
}

type ChannelCreation = operations['channels.create']['requestBody']['content']['application/json']

interface ConnectDraft {
  readonly provider: string
  readonly type: string
  readonly name: string
  readonly identifier: string
  readonly rate: string
  readonly credentials: StoredDraft
  readonly settings: StoredDraft
}

export const emptyDraft: ConnectDraft = {
  provider: '',
  type: '',
  name: '',
  identifier: '',
  rate: '',
  credentials: {},
  settings: {},
}

interface OfferedProvider {
  readonly name: string
  readonly title: string
  readonly about: string
  readonly types: readonly string[]
  readonly identifier: string
  readonly guide: string | null
  readonly limits: readonly string[]
  readonly credentials: readonly ProviderField[]
  readonly settings: readonly ProviderField[]
}

const offered: readonly OfferedProvider[] = providers

export const providerOf = ({ provider }: Pick<ConnectDraft, 'provider'>): OfferedProvider | undefined =>
  offered.find(({ name }) => name === provider)

export function creationOf(draft: ConnectDraft): ChannelCreation {
  const provider = providerOf(draft)
  const rate = draft.rate.trim()
  const settings = {
    ...(rate === '' ? {} : { max_messages_per_second: /^\d+$/.test(rate) ? Number(rate) : rate }),
    ...(provider === undefined ? {} : valuesOf(provider.settings, draft.settings)),
  }
  const identifier = draft.identifier.trim()
  return {
    type: (draft.type === '' ? (provider?.types[0] ?? '') : draft.type) as ChannelCreation['type'],
    ...(provider === undefined ? {} : { provider: provider.name }),
    name: draft.name.trim(),
    ...(identifier === '' ? {} : { identifier }),
    credentials: provider === undefined ? {} : valuesOf(provider.credentials, draft.credentials),
    ...(Object.keys(settings).length === 0 ? {} : { settings }),
  }
}

function withoutSecrets(draft: ConnectDraft): ConnectDraft {
  const secret = new Set(
    (providerOf(draft)?.credentials ?? []).filter(({ kind }) => kind === 'secret').map(({ name }) => name),
  )
  return {
    ...draft,
    credentials: Object.fromEntries(Object.entries(draft.credentials).filter(([name]) => !secret.has(name))),
  }
}
