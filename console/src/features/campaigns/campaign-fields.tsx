/** Audience and schedule of a campaign. */
import { Button, Checkbox, Fieldset, FileButton, Group, Radio, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { type Problem, v1 } from '../../api/client.ts'
import { useApiQuery } from '../../api/use-api-query.ts'
import type { Workspace } from '../../app/paths.ts'
import { SuccessNotice } from '../../components/feedback/alerts.tsx'
import { ChoiceField, LongTextField, TextField } from '../../components/form/fields.tsx'
import { formatNumber, useZone } from '../../components/format/intl.tsx'
import { text } from '../../text/en.ts'
import { type AudienceType, audienceTypes, type CampaignDraft, recipientCount } from './campaign-draft.ts'

const words = text.campaigns.form
const choicesMax = 100

interface AudienceFieldsProps {
  readonly workspace: Workspace
  readonly draft: CampaignDraft
  readonly onChange: (draft: CampaignDraft) => void
  readonly problem: Problem | undefined
}

export function AudienceFields(props: AudienceFieldsProps) {
  const { draft, onChange, problem } = props
  return (
    <Stack>
      <Radio.Group
        label={words.audience}
        value={draft.audience}
        error={problem?.about('audience.type')}
        onChange={(audience) => onChange({ ...draft, audience: audience as AudienceType })}
      >
        <Group mt="xs">
          {audienceTypes.map((type) => (
            <Radio key={type} value={type} label={words.audiences[type]} />
          ))}
        </Group>
      </Radio.Group>
      {draft.audience === 'segment' && <SegmentChoice {...props} />}
      {draft.audience === 'list' && <ListChoice {...props} />}
      {draft.audience === 'tags' && <TagFields {...props} />}
      {draft.audience === 'adhoc' && <RecipientFields {...props} />}
    </Stack>
  )
}

function SegmentChoice({ workspace, draft, onChange, problem }: AudienceFieldsProps) {
  const read = useApiQuery(workspace, ['segments.list', choicesMax], () =>
    v1(workspace).GET('/v1/segments', { params: { query: { limit: choicesMax } } }),
  )
  return (
    <ChoiceField
      label={words.audiences.segment}
      any={words.choose}
      choices={(read.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
      value={draft.segment}
      onChange={(segment) => onChange({ ...draft, segment })}
      param="audience"
      problem={problem}
    />
  )
}

function ListChoice({ workspace, draft, onChange, problem }: AudienceFieldsProps) {
  const read = useApiQuery(workspace, ['contact_lists.list', choicesMax], () =>
    v1(workspace).GET('/v1/contact_lists', { params: { query: { limit: choicesMax } } }),
  )
  return (
    <ChoiceField
      label={words.audiences.list}
      any={words.choose}
      choices={(read.data?.data ?? []).map(({ id, name, contacts_count }) => ({
        value: id,
        label: `${name} (${formatNumber(contacts_count)})`,
      }))}
      value={draft.list}
      onChange={(list) => onChange({ ...draft, list })}
      param="audience"
      problem={problem}
    />
  )
}

function TagFields({ draft, onChange, problem }: AudienceFieldsProps) {
  return (
    <>
      <TextField
        label={words.tags}
        hint={words.tagsHint}
        value={draft.tags}
        onChange={(tags) => onChange({ ...draft, tags })}
        param="audience"
        problem={problem}
      />
      <ChoiceField
        label={words.match}
        choices={(['any', 'all'] as const).map((value) => ({ value, label: words.matches[value] }))}
        value={draft.match}
        onChange={(match) => onChange({ ...draft, match: match === 'all' ? 'all' : 'any' })}
      />
    </>
  )
}

function RecipientFields({ draft, onChange, problem }: AudienceFieldsProps) {
  const [done, setDone] = useState('')
  const upload = async (file: File | null) => {
    if (file === null) return
    const recipients = (await file.text()).replace(/^\uFEFF/, '')
    onChange({ ...draft, recipients })
    setDone(words.uploaded(formatNumber(recipientCount(recipients))))
  }
  return (
    <>
      <LongTextField
        label={words.recipients}
        hint={words.recipientsHint}
        value={draft.recipients}
        onChange={(recipients) => onChange({ ...draft, recipients })}
        param="audience"
        problem={problem}
      />
      <Group>
        <FileButton accept="text/csv,text/plain,.csv,.txt" onChange={(file) => void upload(file)}>
          {(props) => (
            <Button variant="default" {...props}>
              {words.readFile}
            </Button>
          )}
        </FileButton>
        <Text size="sm">{words.readFileHint}</Text>
      </Group>
      <SuccessNotice text={done} />
      <Checkbox
        label={words.saveAsContacts}
        checked={draft.saves_contacts}
        onChange={(event) => onChange({ ...draft, saves_contacts: event.currentTarget.checked })}
      />
    </>
  )
}

interface ScheduleFieldsProps {
  readonly draft: CampaignDraft
  readonly onChange: (draft: CampaignDraft) => void
  readonly problem: Problem | undefined
}

export function ScheduleFields({ draft, onChange, problem }: ScheduleFieldsProps) {
  const zone = useZone()
  const field = (name: 'send_at' | 'from' | 'until' | 'timezone' | 'rate', param: string) => ({
    value: draft[name],
    onChange: (value: string) => onChange({ ...draft, [name]: value }),
    param,
    problem,
  })
  return (
    <Fieldset legend={words.when}>
      <Stack>
        <div className="filters">
          <TextField label={words.sendAt} hint={words.sendAtHint(zone)} {...field('send_at', 'schedule.send_at')} />
          <TextField label={words.rate} {...field('rate', 'throttle_per_second')} />
        </div>
        <div className="filters">
          <TextField label={words.from} hint={words.hours} {...field('from', 'schedule.send_window')} />
          <TextField label={words.until} hint={words.hours} {...field('until', 'schedule.send_window.end')} />
          <ChoiceField
            label={words.zone}
            any={words.zoneAccount}
            choices={['UTC', ...Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC')]}
            {...field('timezone', 'schedule.timezone')}
          />
        </div>
        <Checkbox
          label={words.recipientZone}
          checked={draft.is_recipient_zone}
          onChange={(event) => onChange({ ...draft, is_recipient_zone: event.currentTarget.checked })}
        />
      </Stack>
    </Fieldset>
  )
}
