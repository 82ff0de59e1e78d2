/** Changes what an account may change of a channel: its name, its settings, and its credentials, whole. */
import { Button, Checkbox, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { answered, v1 } from '../../api/client.ts'
import type { operations } from '../../api/generated/v1.ts'
import { useAction } from '../../api/use-action.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/fields.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import type { Place } from '../../paths.ts'
import { text } from '../../text/en.ts'
import type { Channel } from './channel.ts'
import { providerOf } from './connect-draft.ts'
import { ProviderFields, valuesOf, type Entered } from './provider-fields.tsx'

const { form: words, one } = text.channels

type Change = NonNullable<operations['channels.update']['requestBody']>['content']['application/json']

export interface ChangeChannelDialogProps {
  readonly place: Place
  readonly channel: Channel
  readonly onClose: () => void
  readonly onSaved: () => unknown
}

export function ChangeChannelDialog({ place, channel, onClose, onSaved }: ChangeChannelDialogProps) {
  const provider = providerOf(channel)
  const [name, setName] = useState(channel.name)
  const [settings, setSettings] = useState<Entered>(() => enteredOf(channel.settings))
  const [isRenewing, setRenewing] = useState(false)
  const [credentials, setCredentials] = useState<Entered>({})
  const action = useAction(
    (body: Change) => answered(v1(place).PATCH('/v1/channels/{id}', { params: { path: { id: channel.id } }, body })),
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
        <TextField label={words.name} value={name} onChange={setName} param="name" problem={problem} />
        <ProviderFields fields={fields} within="settings" entered={settings} onChange={setSettings} problem={problem} />
        {provider !== undefined && (
          <Checkbox
            label={one.renew}
            checked={isRenewing}
            onChange={(event) => setRenewing(event.currentTarget.checked)}
          />
        )}
        {isRenewing && provider !== undefined && (
          <>
            <Text size="sm">{words.encrypted}</Text>
            <ProviderFields
              fields={provider.credentials}
              within="credentials"
              entered={credentials}
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

/** What every channel has. */
const rateField = {
  name: 'max_messages_per_second',
  label: words.rate,
  hint: words.rateHint,
  kind: 'number',
  required: false,
  choices: [],
  fallback: '',
} as const

const enteredOf = (settings: Channel['settings']): Entered =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, value === null ? '' : String(value)]))

/** Settings without a field stay as they are: the service replaces them whole. */
const unknownOf = (settings: Channel['settings'], fields: readonly { readonly name: string }[]): Channel['settings'] =>
  Object.fromEntries(Object.entries(settings).filter(([name]) => !fields.some((field) => field.name === name)))
