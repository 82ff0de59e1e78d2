/** The fields of a webhook endpoint. */
import { Checkbox, Stack, Text } from '@mantine/core'
import { endpointFilterValues, eventTypes } from '../../api/generated/tables.ts'
import type { Problem } from '../../api/problem.ts'
import { CheckGroup } from '../../parts/check-group.tsx'
import { LongTextField, TextField } from '../../parts/fields.tsx'
import { text } from '../../text/en.ts'
import { objectIn } from '../../parts/json-object.ts'
import type { EndpointDraft } from './endpoint.ts'

/** The API's names, at which refusals are shown. */
export const endpointFields = [
  'url',
  'description',
  'events',
  'filters',
  'metadata',
  'verification_token',
  'source',
] as const

export interface EndpointFieldsProps {
  readonly draft: EndpointDraft
  readonly onChange: (draft: EndpointDraft) => void
  readonly token: string
  readonly onToken: (token: string) => void
  readonly problem: Problem | undefined
  /** The endpoint is there already. */
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

/** All of them is an entry of its own, beside which no other stands. */
const allEvents = '*'

const eventsAfter = (before: readonly string[], now: readonly string[]): readonly string[] =>
  now.includes(allEvents) && !before.includes(allEvents)
    ? [allEvents]
    : now.filter((type) => type !== allEvents || now.length === 1)

function MoreFields({ draft, onChange, token, onToken, problem, isChange }: EndpointFieldsProps) {
  const words = text.webhooks
  const isWrong = objectIn(draft.metadata) === undefined
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
