/** The fields of an automation. */
import { Fieldset, Stack, Text } from '@mantine/core'
import type { Problem } from '../../api/client.ts'
import { automationEventTypes, eventFields } from '../../api/generated/tables.ts'
import { ContentFields } from '../../components/content/content-fields.tsx'
import { contentOf, mergeTagsIn, type Template } from '../../components/content/content.ts'
import type { Channels } from '../../components/content/use-channels.ts'
import { ChoiceField, TextField } from '../../components/form/fields.tsx'
import { RulesFields } from '../../components/form/rules-fields.tsx'
import { text } from '../../text/en.ts'
import type { Source } from '../integrations/sources-screen.tsx'
import type { AutomationDraft } from './automation-draft.ts'

const words = text.automations.form

interface AutomationFieldsProps {
  readonly channels: Channels
  readonly sources: readonly Source[]
  readonly templates: readonly Template[]
  readonly draft: AutomationDraft
  readonly onChange: (draft: AutomationDraft) => void
  readonly problem: Problem | undefined
}

export function AutomationFields(props: AutomationFieldsProps) {
  const { channels, sources, draft, onChange, problem } = props
  const field = (name: 'name' | 'source' | 'delay' | 'cancel_on' | 'channel', param: string) => ({
    value: draft[name],
    onChange: (value: string) => onChange({ ...draft, [name]: value }),
    param,
    problem,
  })
  return (
    <>
      <TextField label={words.name} {...field('name', 'name')} required />
      <ChoiceField
        label={words.source}
        any={words.choose}
        choices={choicesOf(sources, draft.source)}
        {...field('source', 'source_id')}
      />
      <EventFields {...props} />
      <Fieldset legend={words.rules}>
        <Text size="sm" mb="sm">
          {words.rulesHint}
        </Text>
        <RulesFields
          draft={draft.rules}
          onChange={(rules) => onChange({ ...draft, rules })}
          problem={problem}
          param="conditions"
          fields={eventFields}
          allowsEmpty
        />
      </Fieldset>
      <TextField label={words.delay} {...field('delay', 'delay_seconds')} />
      <TextField label={words.cancelOn} hint={words.cancelHint} {...field('cancel_on', 'cancel_on')} />
      <ChoiceField
        label={words.channel}
        any={words.choose}
        choices={channels.choices}
        {...field('channel', 'channel_id')}
      />
      <ChoiceField
        label={words.category}
        choices={(['transactional', 'marketing'] as const).map((value) => ({ value, label: words.categories[value] }))}
        value={draft.category}
        onChange={(category) =>
          onChange({ ...draft, category: category === 'marketing' ? 'marketing' : 'transactional' })
        }
        param="category"
        problem={problem}
      />
      <MessageFields {...props} />
    </>
  )
}

const choicesOf = (sources: readonly Source[], chosen: string): { value: string; label: string }[] => [
  ...sources.map(({ id, name }) => ({ value: id, label: name })),
  ...(chosen === '' || sources.some(({ id }) => id === chosen) ? [] : [{ value: chosen, label: chosen }]),
]

function EventFields({ sources, draft, onChange, problem }: AutomationFieldsProps) {
  const emitted = sources.find(({ id }) => id === draft.source)?.emits ?? []
  const known: readonly string[] = [...new Set([...automationEventTypes, ...emitted])]
  const custom = 'custom.'
  const isOwn = draft.event.startsWith(custom) && !known.includes(draft.event)
  const choices = [...known, { value: custom, label: words.custom }]
  const set = (event: string) => onChange({ ...draft, event })
  return (
    <>
      <ChoiceField
        label={words.event}
        any={words.choose}
        choices={choices}
        value={isOwn ? custom : draft.event}
        onChange={set}
        param="event_type"
        problem={problem}
      />
      {isOwn && (
        <TextField
          label={words.customEvent}
          hint={words.customHint}
          value={draft.event}
          onChange={(event) => set(event.startsWith(custom) ? event : custom)}
        />
      )}
    </>
  )
}

function MessageFields({ channels, templates, draft, onChange, problem }: AutomationFieldsProps) {
  const types = channels.all.find(({ id }) => id === draft.channel)?.capabilities ?? [draft.type]
  return (
    <Fieldset legend={words.message}>
      <Stack>
        <Text size="sm">{words.tags}</Text>
        <ContentFields
          draft={draft}
          onChange={onChange}
          problem={problem}
          types={types}
          templates={templates}
          within="message."
        />
        {mergeTagsIn(contentOf(draft, templates)).map((tag) => (
          <TextField
            key={tag}
            label={words.fallback(tag)}
            value={Object.hasOwn(draft.fallbacks, tag) ? draft.fallbacks[tag]! : ''}
            onChange={(value) => onChange({ ...draft, fallbacks: { ...draft.fallbacks, [tag]: value } })}
            param={`merge_fallbacks.${tag}`}
            problem={problem}
          />
        ))}
      </Stack>
    </Fieldset>
  )
}
