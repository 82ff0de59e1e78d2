/** Shown after connecting: callback address and test message. */
import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { unwrap, v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { useDisabledReason } from '../../api/session.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { pathTo, type Workspace } from '../../app/paths.ts'
import { SuccessNotice, ProblemAlert } from '../../components/feedback/alerts.tsx'
import { CopyButton, copyText } from '../../components/feedback/copy-button.tsx'
import { ActionButton } from '../../components/form/action-button.tsx'
import { ChoiceField, TextField } from '../../components/form/fields.tsx'
import { useStoredIdempotencyKeys } from '../../components/form/use-draft.ts'
import { Region } from '../../components/format/facts.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { text } from '../../text/en.ts'
import { type Channel, hasTemplates, useTemplates } from './channel.tsx'

const { connected: words } = text.channels

interface ConnectedPanelProps {
  readonly workspace: Workspace
  readonly channel: Channel
  readonly verify_token?: string | undefined
  readonly isNew?: boolean
}

export function ConnectedPanel({ workspace, channel, verify_token, isNew = false }: ConnectedPanelProps) {
  return (
    <Stack>
      {isNew && <SuccessNotice>{words.why(channel.name)}</SuccessNotice>}
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
      <TestRegion workspace={workspace} channel={channel} />
      {isNew && (
        <Text>
          <PathLink to={pathTo(workspace, 'channels', channel.id)}>{words.toChannel}</PathLink>
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

function TestRegion({ workspace, channel }: { workspace: Workspace; channel: Channel }) {
  const [to, setTo] = useState('')
  const [chosen, choose] = useState('')
  const templates = useTemplates(workspace, hasTemplates(channel) ? channel.id : undefined)
  const approved = (templates.data ?? []).filter(({ status }) => status === 'APPROVED')
  const template = approved.find(({ id }) => id === chosen)
  const disabledReason = useDisabledReason(workspace)('messages:write')
  const action = useApiMutation(
    (body: SendMessage, key) =>
      unwrap(v1(workspace).POST('/v1/messages', { body, headers: { 'Idempotency-Key': key } })),
    undefined,
    useStoredIdempotencyKeys(workspace, `channel test ${channel.id}`),
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
        <SuccessNotice>
          {action.result !== undefined && (
            <>
              {words.sent} <PathLink to={pathTo(workspace, 'messages', action.result.id)}>{words.open}</PathLink>
            </>
          )}
        </SuccessNotice>
        <Group>
          <ActionButton
            label={words.send}
            disabledReason={disabledReason}
            loading={action.isRunning}
            onPress={() => action.run(message)}
          />
        </Group>
      </Stack>
    </Region>
  )
}
