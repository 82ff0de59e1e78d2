/** The form of an unlaunched campaign. */
import { Checkbox, Fieldset, Stack } from '@mantine/core'
import { useState } from 'react'
import { type Problem, v1 } from '../../api/client.ts'
import { useDisabledReason } from '../../api/session.ts'
import { type Workspace, useWorkspace } from '../../app/paths.ts'
import { ContentFields, useTemplates } from '../../components/content/content-fields.tsx'
import { contentOf, mergeTagsIn, type Template } from '../../components/content/content.ts'
import { type Channels, useChannels } from '../../components/content/use-channels.ts'
import { SuccessNotice, ConflictAlert, ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ApiButton, type ApiRequest } from '../../components/feedback/api-button.tsx'
import { Screen } from '../../components/feedback/screen.tsx'
import { ActionButton, DeleteButton } from '../../components/form/action-button.tsx'
import { ChoiceField, TextField } from '../../components/form/fields.tsx'
import { useZone } from '../../components/format/intl.tsx'
import { text } from '../../text/en.ts'
import { type CampaignDraft, creationOf, emptyCampaign, useCampaignDraft } from './campaign-draft.ts'
import { AudienceFields, ScheduleFields } from './campaign-fields.tsx'
import { Estimate, SendTestDialog } from './campaign-preview.tsx'
import { LaunchDialog } from './launch-dialog.tsx'

const words = text.campaigns.form

interface CampaignFormProps {
  readonly workspace: Workspace
  readonly title: string
  readonly first: CampaignDraft
}

const requestOf = (id: string, body: object): ApiRequest =>
  id === ''
    ? { operation: 'campaigns.create', method: 'POST', path: '/v1/campaigns', body }
    : { operation: 'campaigns.update', method: 'PATCH', path: `/v1/campaigns/${id}`, body }

export function CampaignForm({ workspace, title, first }: CampaignFormProps) {
  const zone = useZone()
  const channels = useChannels(workspace)
  const form = useCampaignDraft(workspace, first, channels)
  const { draft } = form
  const { templates, isPending } = useTemplates(workspace, draft.channel, draft.type)
  const [open, setOpen] = useState<'test' | 'launch'>()
  const body = creationOf(draft, templates, zone)
  const disabledReason = useDisabledReason(workspace)('campaigns:write')
  const button = (label: string, then: 'stay' | 'test' | 'launch', variant: 'default' | 'filled') => (
    <ActionButton
      label={label}
      variant={variant}
      disabledReason={disabledReason}
      loading={form.isSaving === then}
      disabled={form.isSaving !== undefined}
      onPress={() => form.save(body, then, () => setOpen(then === 'stay' ? undefined : then))}
    />
  )
  return (
    <Screen title={title} mode={workspace.mode} actions={<ApiButton request={requestOf(draft.id, body)} />}>
      <div className="two-columns">
        <Stack>
          <FormFields
            workspace={workspace}
            channels={channels}
            templates={templates}
            draft={draft}
            onChange={form.change}
            problem={form.problem}
          />
          <ConflictAlert when={form.hasConflict} onDiscard={form.discard} />
          <SuccessNotice text={form.done} />
          {form.problem !== undefined && <ProblemAlert problem={form.problem} />}
          <div className="actions">
            {button(words.launch, 'launch', 'filled')}
            {button(words.save, 'stay', 'default')}
            {button(words.test, 'test', 'default')}
            {draft.id !== '' && (
              <DeleteDraft
                workspace={workspace}
                id={draft.id}
                disabledReason={disabledReason}
                onDeleted={form.discard}
              />
            )}
          </div>
        </Stack>
        <Stack className="sticky">
          <Estimate workspace={workspace} draft={draft} body={body} templates={templates} isReady={!isPending} />
        </Stack>
      </div>
      {open === 'test' && <SendTestDialog workspace={workspace} id={draft.id} onClose={() => setOpen(undefined)} />}
      {open === 'launch' && (
        <LaunchDialog workspace={workspace} id={draft.id} onClose={() => setOpen(undefined)} onLaunched={form.leave} />
      )}
    </Screen>
  )
}

interface FieldsProps {
  readonly workspace: Workspace
  readonly channels: Channels
  readonly templates: readonly Template[]
  readonly draft: CampaignDraft
  readonly onChange: (draft: CampaignDraft) => void
  readonly problem: Problem | undefined
}

function FormFields({ workspace, channels, templates, draft, onChange, problem }: FieldsProps) {
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
        onChange={(channel) => onChange({ ...draft, channel, template: '', templateVariables: {} })}
        param="channel"
        problem={problem}
      />
      <AudienceFields workspace={workspace} draft={draft} onChange={onChange} problem={problem} />
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

/** Replacements for empty merge tags. */
function Fallbacks({ draft, onChange, problem, templates }: Omit<FieldsProps, 'workspace' | 'channels'>) {
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
  readonly workspace: Workspace
  readonly id: string
  readonly disabledReason: string | undefined
  readonly onDeleted: () => void
}

const DeleteDraft = (props: DeleteProps) => (
  <DeleteButton
    {...props}
    words={text.campaigns.form}
    remove={(id) => v1(props.workspace).DELETE('/v1/campaigns/{id}', { params: { path: { id } } })}
    section="campaigns"
    invalidate={['campaigns.list']}
  />
)

export function NewCampaignScreen() {
  const workspace = useWorkspace()
  return <CampaignForm workspace={workspace} title={text.campaigns.create} first={emptyCampaign} />
}
