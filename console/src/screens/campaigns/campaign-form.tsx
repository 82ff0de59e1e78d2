/** The form of a campaign that is not launched: who gets what, when, and what comes of it. */
import { Checkbox, Fieldset, Stack } from '@mantine/core'
import { useState } from 'react'
import { v1 } from '../../api/client.ts'
import { useBecause } from '../../api/may.ts'
import type { Problem } from '../../api/problem.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { ApiButton } from '../../parts/api-button.tsx'
import { ContentFields, useTemplates } from '../../parts/content-fields.tsx'
import { contentOf, type Template } from '../../parts/content.ts'
import { DeleteButton } from '../../parts/delete-button.tsx'
import { Done } from '../../parts/done.tsx'
import { ChoiceField, TextField } from '../../parts/fields.tsx'
import { mergeTagsIn } from '../../parts/merge-tags.ts'
import { Outdated } from '../../parts/outdated.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { Screen } from '../../parts/screen.tsx'
import { useZone } from '../../parts/times.ts'
import { useChannels, type Channels } from '../../parts/use-channels.ts'
import type { Place } from '../../paths.ts'
import { text } from '../../text/en.ts'
import { AudienceFields } from './audience-fields.tsx'
import { creationOf, type CampaignDraft } from './campaign.ts'
import { Estimate } from './estimate.tsx'
import { LaunchDialog } from './launch-dialog.tsx'
import { ScheduleFields } from './schedule-fields.tsx'
import { SendTestDialog } from './send-test-dialog.tsx'
import { useCampaignDraft } from './use-campaign-draft.ts'

const words = text.campaigns.form

export interface CampaignFormProps {
  readonly place: Place
  readonly title: string
  readonly first: CampaignDraft
}

export function CampaignForm({ place, title, first }: CampaignFormProps) {
  const zone = useZone()
  const channels = useChannels(place)
  const form = useCampaignDraft(place, first, channels)
  const { draft } = form
  const { templates, isPending } = useTemplates(place, draft.channel, draft.type)
  const [open, setOpen] = useState<'test' | 'launch'>()
  const body = creationOf(draft, templates, zone)
  const because = useBecause(place)('campaigns:write')
  const request =
    draft.id === ''
      ? ({ operation: 'campaigns.create', method: 'POST', path: '/v1/campaigns', body } as const)
      : ({ operation: 'campaigns.update', method: 'PATCH', path: `/v1/campaigns/${draft.id}`, body } as const)
  const button = (label: string, then: 'stay' | 'test' | 'launch', variant: 'default' | 'filled') => (
    <ActionButton
      label={label}
      variant={variant}
      because={because}
      loading={form.isSaving === then}
      disabled={form.isSaving !== undefined}
      onPress={() => form.save(body, then, () => setOpen(then === 'stay' ? undefined : then))}
    />
  )
  return (
    <Screen title={title} mode={place.mode} actions={<ApiButton request={request} />}>
      <div className="two-columns">
        <Stack>
          <FormFields
            place={place}
            channels={channels}
            templates={templates}
            draft={draft}
            onChange={form.change}
            problem={form.problem}
          />
          <Outdated when={form.isOutdated} onGivenUp={form.forget} />
          <Done text={form.done} />
          {form.problem !== undefined && <ProblemAlert problem={form.problem} />}
          <div className="actions">
            {button(words.launch, 'launch', 'filled')}
            {button(words.save, 'stay', 'default')}
            {button(words.test, 'test', 'default')}
            {draft.id !== '' && <DeleteDraft place={place} id={draft.id} because={because} onDeleted={form.forget} />}
          </div>
        </Stack>
        <Stack className="sticky">
          <Estimate place={place} draft={draft} body={body} templates={templates} isReady={!isPending} />
        </Stack>
      </div>
      {open === 'test' && <SendTestDialog place={place} id={draft.id} onClose={() => setOpen(undefined)} />}
      {open === 'launch' && (
        <LaunchDialog place={place} id={draft.id} onClose={() => setOpen(undefined)} onLaunched={form.leave} />
      )}
    </Screen>
  )
}

interface FieldsProps {
  readonly place: Place
  readonly channels: Channels
  readonly templates: readonly Template[]
  readonly draft: CampaignDraft
  readonly onChange: (draft: CampaignDraft) => void
  readonly problem: Problem | undefined
}

function FormFields({ place, channels, templates, draft, onChange, problem }: FieldsProps) {
  const types = channels.all.find(({ id }) => id === draft.channel)?.capabilities ?? [draft.type]
  return (
    <>
      <TextField
        label={words.name}
        value={draft.name}
        onChange={(name) => onChange({ ...draft, name })}
        param="name"
        problem={problem}
        required
      />
      <ChoiceField
        label={words.channel}
        any={words.choose}
        choices={channels.choices}
        value={draft.channel}
        onChange={(channel) => onChange({ ...draft, channel, template: '', blanks: {} })}
        param="channel"
        problem={problem}
      />
      <AudienceFields place={place} draft={draft} onChange={onChange} problem={problem} />
      <Fieldset legend={words.message}>
        <Stack>
          <ContentFields
            draft={draft}
            onChange={onChange}
            problem={problem}
            types={types}
            templates={templates}
            within="message."
            uploads
          />
          <Fallbacks draft={draft} onChange={onChange} problem={problem} templates={templates} />
        </Stack>
      </Fieldset>
      <ScheduleFields draft={draft} onChange={onChange} problem={problem} />
      <Checkbox
        label={words.optedIn}
        checked={draft.is_opt_in}
        onChange={(event) => onChange({ ...draft, is_opt_in: event.currentTarget.checked })}
      />
      <Checkbox
        label={words.consent}
        checked={draft.is_consented}
        error={problem?.about('consent_declared')}
        onChange={(event) => onChange({ ...draft, is_consented: event.currentTarget.checked })}
      />
    </>
  )
}

/** What stands where a recipient has nothing for a merge tag. */
function Fallbacks({ draft, onChange, problem, templates }: Omit<FieldsProps, 'place' | 'channels'>) {
  return mergeTagsIn(contentOf(draft, templates)).map((tag) => (
    <TextField
      key={tag}
      label={words.fallback(tag)}
      value={Object.hasOwn(draft.fallbacks, tag) ? draft.fallbacks[tag]! : ''}
      onChange={(value) => onChange({ ...draft, fallbacks: { ...draft.fallbacks, [tag]: value } })}
      param={`merge_fallbacks.${tag}`}
      problem={problem}
    />
  ))
}

interface DeleteProps {
  readonly place: Place
  readonly id: string
  readonly because: string | undefined
  readonly onDeleted: () => void
}

const DeleteDraft = (props: DeleteProps) => (
  <DeleteButton
    {...props}
    words={text.campaigns.form}
    remove={(id) => v1(props.place).DELETE('/v1/campaigns/{id}', { params: { path: { id } } })}
    section="campaigns"
    stale={['campaigns.list']}
  />
)
