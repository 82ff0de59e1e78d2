/** The form of a webhook endpoint. */
import { Button, Checkbox, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { unwrap, type Problem, v1 } from '../../api/client.ts'
import { endpointFilterValues, eventTypes } from '../../api/generated/tables.ts'
import type { components, operations } from '../../api/generated/v1.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { useWorkspace } from '../../app/paths.ts'
import { ConflictAlert } from '../../components/feedback/alerts.tsx'
import { Dialog } from '../../components/feedback/dialog.tsx'
import { CheckGroup, FormProblem, LongTextField, TextField } from '../../components/form/fields.tsx'
import { parseJsonObject } from '../../components/form/json.ts'
import { useDraft } from '../../components/form/use-draft.ts'
import { text } from '../../text/en.ts'

/** Their errors are shown at the field. */
export const endpointFields = [
  'url',
  'description',
  'events',
  'filters',
  'metadata',
  'verification_token',
  'source',
] as const

interface EndpointFieldsProps {
  readonly draft: EndpointDraft
  readonly onChange: (draft: EndpointDraft) => void
  readonly token: string
  readonly onToken: (token: string) => void
  readonly problem: Problem | undefined
  readonly isChange?: boolean
}

export function EndpointFields(props: EndpointFieldsProps) {
  const { draft, onChange, problem } = props
  const words = text.webhooks
  return (
    <>
      <TextField
        label={words.url}
        value={draft.url}
        onChange={(url) => onChange({ ...draft, url })}
        param="url"
        problem={problem}
        hint={words.urlHint}
        required
      />
      <TextField
        label={words.description}
        value={draft.description}
        onChange={(description) => onChange({ ...draft, description })}
        param="description"
        problem={problem}
      />
      <CheckGroup
        label={words.events}
        choices={eventTypes}
        chosen={draft.events}
        onChange={(events) => onChange({ ...draft, events: eventsAfter(draft.events, events) })}
        hint={words.eventsWhy}
        error={problem?.about('events')}
      >
        <Checkbox mt="xs" value={allEvents} label={words.allEvents} />
      </CheckGroup>
      <details>
        <summary>{words.more}</summary>
        <MoreFields {...props} />
      </details>
    </>
  )
}

const allEvents = '*'

const eventsAfter = (before: readonly string[], now: readonly string[]): readonly string[] =>
  now.includes(allEvents) && !before.includes(allEvents)
    ? [allEvents]
    : now.filter((type) => type !== allEvents || now.length === 1)

function MoreFields({ draft, onChange, token, onToken, problem, isChange }: EndpointFieldsProps) {
  const words = text.webhooks
  const isWrong = parseJsonObject(draft.metadata) === undefined
  return (
    <Stack mt="sm">
      <TextField
        label={words.token}
        value={token}
        onChange={onToken}
        param="verification_token"
        problem={problem}
        hint={isChange === true ? `${words.tokenHint} ${words.tokenKept}` : words.tokenHint}
      />
      <LongTextField
        label={words.metadata}
        isCode
        value={draft.metadata}
        onChange={(metadata) => onChange({ ...draft, metadata })}
        param="metadata"
        problem={problem}
        hint={words.metadataHint}
        error={isWrong ? words.metadataWrong : undefined}
      />
      {isChange !== true && (
        <TextField
          label={words.source}
          value={draft.source}
          onChange={(source) => onChange({ ...draft, source })}
          param="source"
          problem={problem}
          hint={words.sourceHint}
        />
      )}
      <Filters draft={draft} onChange={onChange} problem={problem} />
    </Stack>
  )
}

function Filters({ draft, onChange, problem }: Pick<EndpointFieldsProps, 'draft' | 'onChange' | 'problem'>) {
  const words = text.webhooks
  const boxes = [
    ['channel_types', words.channelTypes],
    ['directions', words.directions],
    ['message_types', words.messageTypes],
  ] as const
  const ids = [
    ['channels', words.channels],
    ['campaigns', words.campaigns],
  ] as const
  return (
    <Stack component="fieldset" gap="sm" m={0}>
      <legend>{words.filters}</legend>
      <Text size="sm">{words.filtersWhy}</Text>
      {ids.map(([name, label]) => (
        <LongTextField
          key={name}
          label={label}
          value={draft[name]}
          onChange={(value) => onChange({ ...draft, [name]: value })}
          param={`filters.${name}`}
          problem={problem}
          hint={words.idsHint}
        />
      ))}
      {boxes.map(([name, label]) => (
        <CheckGroup
          key={name}
          label={label}
          choices={endpointFilterValues[name]}
          chosen={draft[name]}
          onChange={(values) => onChange({ ...draft, [name]: values })}
          error={problem?.about(`filters.${name}`)}
        />
      ))}
    </Stack>
  )
}

export type Endpoint = components['schemas']['WebhookEndpoint']
export type Creation = operations['webhook_endpoints.create']['requestBody']['content']['application/json']

interface EndpointDraft {
  readonly url: string
  readonly description: string
  /** `*` alone means all. */
  readonly events: readonly string[]
  readonly channels: string
  readonly campaigns: string
  readonly channel_types: readonly string[]
  readonly directions: readonly string[]
  readonly message_types: readonly string[]
  readonly metadata: string
  readonly source: string
}

export const emptyDraft: EndpointDraft = {
  url: '',
  description: '',
  events: ['*'],
  channels: '',
  campaigns: '',
  channel_types: [],
  directions: [],
  message_types: [],
  metadata: '',
  source: '',
}

export function draftOf({ url, description, events, filters, metadata, source }: Endpoint): EndpointDraft {
  return {
    url,
    description,
    events,
    channels: (filters.channels ?? []).join('\n'),
    campaigns: (filters.campaigns ?? []).join('\n'),
    channel_types: filters.channel_types ?? [],
    directions: filters.directions ?? [],
    message_types: filters.message_types ?? [],
    metadata: Object.keys(metadata).length === 0 ? '' : JSON.stringify(metadata, null, 2),
    source: source ?? '',
  }
}

const linesOf = (typed: string): string[] => typed.split(/\s+/).filter((line) => line !== '')

export function bodyOf(draft: EndpointDraft, verification_token: string): Omit<Creation, 'source'> {
  const filters = {
    channels: linesOf(draft.channels),
    campaigns: linesOf(draft.campaigns),
    channel_types: draft.channel_types,
    directions: draft.directions,
    message_types: draft.message_types,
  }
  return {
    url: draft.url.trim(),
    events: [...draft.events] as Creation['events'],
    description: draft.description,
    metadata: parseJsonObject(draft.metadata) ?? {},
    filters: Object.fromEntries(Object.entries(filters).filter(([, values]) => values.length > 0)) as NonNullable<
      Creation['filters']
    >,
    ...(verification_token === '' ? {} : { verification_token }),
  }
}

export const eventsOf = ({ events }: Endpoint, all: string): string => (events.includes('*') ? all : events.join(', '))

export function ChangeEndpoint({
  endpoint,
  onClose,
  onSaved,
}: {
  endpoint: Endpoint
  onClose: () => void
  onSaved: () => unknown
}) {
  const workspace = useWorkspace()
  const [draft, change, discard, { hasConflict }] = useDraft(workspace, `endpoint ${endpoint.id}`, draftOf(endpoint))
  const [token, setToken] = useState('')
  const { id } = endpoint
  const save = useApiMutation(
    (body: Omit<Creation, 'source'>) =>
      unwrap(v1(workspace).PATCH('/v1/webhook_endpoints/{id}', { params: { path: { id } }, body })),
    () => {
      discard()
      return onSaved()
    },
  )
  return (
    <Dialog title={text.webhooks.one.edit} isOpen onClose={onClose} size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (parseJsonObject(draft.metadata) !== undefined) save.run(bodyOf(draft, token))
        }}
      >
        <Stack>
          <ConflictAlert when={hasConflict} onDiscard={discard} />
          <EndpointFields
            draft={draft}
            onChange={change}
            token={token}
            onToken={setToken}
            problem={save.problem}
            isChange
          />
          <FormProblem problem={save.problem} fields={endpointFields} />
          <Group justify="flex-end">
            <Button type="submit" loading={save.isRunning}>
              {text.webhooks.one.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
