/** Who a campaign goes to. */
import { Button, Checkbox, FileButton, Group, Radio, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { v1 } from '../../api/client.ts'
import type { Problem } from '../../api/problem.ts'
import { useRead } from '../../api/use-read.ts'
import { numberOf } from '../../parts/amounts.ts'
import { Done } from '../../parts/done.tsx'
import { ChoiceField, LongTextField, TextField } from '../../parts/fields.tsx'
import type { Place } from '../../paths.ts'
import { text } from '../../text/en.ts'
import { audienceTypes, type AudienceType, type CampaignDraft } from './campaign.ts'
import { recipientCount } from './recipients-text.ts'

const words = text.campaigns.form
const choicesMax = 100

export interface AudienceFieldsProps {
  readonly place: Place
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

function SegmentChoice({ place, draft, onChange, problem }: AudienceFieldsProps) {
  const read = useRead(place, ['segments.list', choicesMax], () =>
    v1(place).GET('/v1/segments', { params: { query: { limit: choicesMax } } }),
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

function ListChoice({ place, draft, onChange, problem }: AudienceFieldsProps) {
  const read = useRead(place, ['contact_lists.list', choicesMax], () =>
    v1(place).GET('/v1/contact_lists', { params: { query: { limit: choicesMax } } }),
  )
  return (
    <ChoiceField
      label={words.audiences.list}
      any={words.choose}
      choices={(read.data?.data ?? []).map(({ id, name, contacts_count }) => ({
        value: id,
        label: `${name} (${numberOf(contacts_count)})`,
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
    // a byte order mark is no part of the first recipient
    const recipients = (await file.text()).replace(/^\uFEFF/, '')
    onChange({ ...draft, recipients })
    setDone(words.uploaded(numberOf(recipientCount(recipients))))
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
      <Done text={done} />
      <Checkbox
        label={words.saveAsContacts}
        checked={draft.saves_contacts}
        onChange={(event) => onChange({ ...draft, saves_contacts: event.currentTarget.checked })}
      />
    </>
  )
}
