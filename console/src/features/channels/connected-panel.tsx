/** A channel that is connected: the address to give to the provider, and a message that tries it. */
import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { answered, v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { useBecause } from '../../api/session.ts'
import { useAction } from '../../api/use-action.ts'
import { pathTo, type Place } from '../../app/paths.ts'
import { Done, ProblemAlert } from '../../components/feedback/alerts.tsx'
import { CopyButton, copyText } from '../../components/feedback/copy-button.tsx'
import { ActionButton } from '../../components/form/action-button.tsx'
import { ChoiceField, TextField } from '../../components/form/fields.tsx'
import { useAttempt } from '../../components/form/use-draft.ts'
import { Region } from '../../components/format/facts.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { text } from '../../text/en.ts'
import { type Channel, hasTemplates, useTemplates } from './channel.tsx'

const { connected: words } = text.channels

interface ConnectedPanelProps {
  readonly place: Place
  readonly channel: Channel
  readonly verify_token?: string | undefined
  /** It has just been connected. */
  readonly isNew?: boolean
}

export function ConnectedPanel({ place, channel, verify_token, isNew = false }: ConnectedPanelProps) {
  return (
    <Stack>
      {isNew && <Done>{words.why(channel.name)}</Done>}
      {channel.webhook_url !== null && (
        <Region title={words.atProvider}>
          <Stack gap="sm">
            <Group align="end">
              <TextInput
                className="grow"
                label={words.webhook}
                description={words.webhookHint}
                value={channel.webhook_url}
                readOnly
              />
              <CopyButton value={channel.webhook_url} />
            </Group>
            {verify_token !== undefined && <VerifyToken value={verify_token} />}
          </Stack>
        </Region>
      )}
      <TestRegion place={place} channel={channel} />
      {isNew && (
        <Text>
          <PathLink to={pathTo(place, 'channels', channel.id)}>{words.toChannel}</PathLink>
        </Text>
      )}
    </Stack>
  )
}

function VerifyToken({ value }: { value: string }) {
  return (
    <Group align="end">
      <TextInput className="grow" label={words.verify} description={words.verifyHint} value={value} readOnly />
      <Button variant="default" onClick={() => void copyText(value)}>
        {words.copyVerify}
      </Button>
    </Group>
  )
}

type SendMessage = components['schemas']['SendMessage']

function TestRegion({ place, channel }: { place: Place; channel: Channel }) {
  const [to, setTo] = useState('')
  const [chosen, choose] = useState('')
  const templates = useTemplates(place, hasTemplates(channel) ? channel.id : undefined)
  const approved = (templates.data ?? []).filter(({ status }) => status === 'APPROVED')
  const template = approved.find(({ id }) => id === chosen)
  const because = useBecause(place)('messages:write')
  const action = useAction(
    (body: SendMessage, key) => answered(v1(place).POST('/v1/messages', { body, headers: { 'Idempotency-Key': key } })),
    undefined,
    useAttempt(place, `channel test ${channel.id}`),
  )
  const shared = { channel: channel.id, to: to.trim(), priority: 'normal' } as const
  const message: SendMessage =
    template === undefined
      ? { ...shared, type: 'text', text: { body: words.body } }
      : { ...shared, type: 'template', template: { name: template.name, language: { code: template.language } } }
  return (
    <Region title={words.test}>
      <Stack gap="sm" className="form">
        <TextField
          label={words.recipient}
          hint={words.recipientHint}
          value={to}
          onChange={setTo}
          param="to"
          problem={action.problem}
        />
        {approved.length > 0 && (
          <ChoiceField
            label={words.template}
            hint={words.templateHint}
            value={chosen}
            onChange={choose}
            any={words.body}
            choices={approved.map(({ id, name, language }) => ({ value: id, label: `${name} (${language})` }))}
          />
        )}
        {action.problem !== undefined && <ProblemAlert problem={action.problem} />}
        <Done>
          {action.result !== undefined && (
            <>
              {words.sent} <PathLink to={pathTo(place, 'messages', action.result.id)}>{words.open}</PathLink>
            </>
          )}
        </Done>
        <Group>
          <ActionButton
            label={words.send}
            because={because}
            loading={action.isRunning}
            onPress={() => action.run(message)}
          />
        </Group>
      </Stack>
    </Region>
  )
}
