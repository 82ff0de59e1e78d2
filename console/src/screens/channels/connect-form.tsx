/** The form that connects a channel: who carries it, then what that provider asks for. */
import { Anchor, Button, Fieldset, Group, Radio, Stack, Text } from '@mantine/core'
import type { Problem } from '../../api/problem.ts'
import { ChoiceField, TextField } from '../../parts/fields.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { text } from '../../text/en.ts'
import { offered, providerOf, type ConnectDraft, type OfferedProvider } from './connect-draft.ts'
import { ProviderFields } from './provider-fields.tsx'

const { form: words } = text.channels

export interface ConnectFormProps {
  readonly draft: ConnectDraft
  readonly onChange: (draft: ConnectDraft) => void
  readonly onSubmit: () => void
  readonly problem: Problem | undefined
  readonly isRunning: boolean
}

export function ConnectForm({ draft, onChange, onSubmit, problem, isRunning }: ConnectFormProps) {
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
        hint={provider.identifier === 'from_provider' ? words.told : words.given}
        required={provider.identifier !== 'from_provider'}
      />
      <Fieldset legend={words.credentials}>
        <Text size="sm" mb="sm">
          {words.encrypted}
        </Text>
        <ProviderFields
          fields={provider.credentials}
          within="credentials"
          entered={draft.credentials}
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
            entered={draft.settings}
            onChange={(settings) => onChange({ ...draft, settings })}
            problem={problem}
          />
        </Stack>
      </Fieldset>
    </>
  )
}
