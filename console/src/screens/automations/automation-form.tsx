/** The form of an automation, with what can be done with it and what it has done. */
import { Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { v1 } from '../../api/client.ts'
import { useBecause } from '../../api/may.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { ApiButton, type ApiRequest } from '../../parts/api-button.tsx'
import { ContentPreview, useTemplates } from '../../parts/content-fields.tsx'
import { DeleteButton } from '../../parts/delete-button.tsx'
import { Done } from '../../parts/done.tsx'
import { Region } from '../../parts/facts.tsx'
import { Outdated } from '../../parts/outdated.tsx'
import { PathLink } from '../../parts/path-link.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { Screen } from '../../parts/screen.tsx'
import { useChannels } from '../../parts/use-channels.ts'
import { pathTo, type Place } from '../../paths.ts'
import { text } from '../../text/en.ts'
import { useSources } from '../integrations/source.ts'
import { AutomationFields } from './automation-fields.tsx'
import { creationOf, type Automation, type AutomationDraft } from './automation.ts'
import { RunsTable } from './runs-table.tsx'
import { SimulateDialog } from './simulate-dialog.tsx'
import { useAutomationDraft, type After } from './use-automation-draft.ts'

const words = text.automations.form

export interface AutomationFormProps {
  readonly place: Place
  readonly title: string
  readonly first: AutomationDraft
  /** What the address says, which goes before a draft that was kept. */
  readonly given: Partial<AutomationDraft>
  readonly stored: Automation | undefined
}

const requestOf = (id: string, body: object): ApiRequest =>
  id === ''
    ? { operation: 'automations.create', method: 'POST', path: '/v1/automations', body }
    : { operation: 'automations.update', method: 'PATCH', path: `/v1/automations/${id}`, body }

export function AutomationForm({ place, title, first, given, stored }: AutomationFormProps) {
  const channels = useChannels(place)
  const sources = useSources(place)
  const form = useAutomationDraft(place, first, given, channels)
  const { draft } = form
  const { templates } = useTemplates(place, draft.channel, draft.type)
  const [isSimulating, setSimulating] = useState(false)
  const because = useBecause(place)('integrations:write')
  const body = creationOf(draft, templates)
  const button = (label: string, after: After, whyNot = because) => (
    <ActionButton
      label={label}
      variant={after === 'stay' ? 'filled' : 'default'}
      because={whyNot}
      loading={form.isSaving === after}
      disabled={form.isSaving !== undefined}
      onPress={() => form.save(body, after, () => setSimulating(after === 'simulate'))}
    />
  )
  const isActive = stored?.status === 'active'
  const lacksSource = sources.data !== undefined && sources.data.data.length === 0
  return (
    <Screen title={title} mode={place.mode} actions={<ApiButton request={requestOf(draft.id, body)} />}>
      {lacksSource && (
        <Text mb="md">
          {words.noSource} <PathLink to={pathTo(place, 'integrations')}>{words.toSources}</PathLink>
        </Text>
      )}
      <div className="two-columns">
        <Stack>
          <AutomationFields
            channels={channels}
            sources={sources.data?.data ?? []}
            templates={templates}
            draft={draft}
            onChange={form.change}
            problem={form.problem}
          />
          <Outdated when={form.isOutdated} onGivenUp={form.forget} />
          <Done text={form.done} />
          {form.problem !== undefined && <ProblemAlert problem={form.problem} />}
          <div className="actions">
            {button(words.save, 'stay')}
            {button(words.simulate, 'simulate')}
            {button(words.activate, 'activate', because ?? (isActive ? words.isActive : undefined))}
            {isActive && button(words.pause, 'pause')}
            {draft.id !== '' && (
              <DeleteAutomation place={place} id={draft.id} because={because} onDeleted={form.forget} />
            )}
          </div>
        </Stack>
        <div className="sticky">
          <Region title={words.preview}>
            <ContentPreview draft={draft} templates={templates} />
          </Region>
        </div>
      </div>
      {stored !== undefined && <RunsTable place={place} automation={stored.id} />}
      {isSimulating && (
        <SimulateDialog
          place={place}
          id={draft.id}
          source={draft.source}
          type={draft.event}
          onClose={() => setSimulating(false)}
        />
      )}
    </Screen>
  )
}

interface DeleteProps {
  readonly place: Place
  readonly id: string
  readonly because: string | undefined
  readonly onDeleted: () => void
}

const DeleteAutomation = (props: DeleteProps) => (
  <DeleteButton
    {...props}
    words={text.automations.form}
    remove={(id) => v1(props.place).DELETE('/v1/automations/{id}', { params: { path: { id } } })}
    section="automations"
    stale={['automations.list', 'integration_sources.']}
  />
)
