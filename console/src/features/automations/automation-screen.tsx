/** An automation, new or stored: what it waits for, what it sends, and what it has done. */
import { Stack, Text, Title } from '@mantine/core'
import { useLocation, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { problemOf, v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { useBecause } from '../../api/session.ts'
import { useRead } from '../../api/use-api-query.ts'
import { pathTo, type Place, type Query, usePlace } from '../../app/paths.ts'
import { ContentPreview, useTemplates } from '../../components/content/content-fields.tsx'
import { useChannels } from '../../components/content/use-channels.ts'
import { Done, Outdated, ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ApiButton, type ApiRequest } from '../../components/feedback/api-button.tsx'
import { Loaded, Screen, Waiting } from '../../components/feedback/screen.tsx'
import { ActionButton, DeleteButton } from '../../components/form/action-button.tsx'
import { Region, Status } from '../../components/format/facts.tsx'
import { useTime } from '../../components/format/intl.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { type Column, RowsTable } from '../../components/table/list-table.tsx'
import { inWords, text } from '../../text/en.ts'
import { useSources } from '../integrations/sources-screen.tsx'
import {
  type After,
  type Automation,
  type AutomationDraft,
  creationOf,
  draftOf,
  emptyAutomation,
  useAutomationDraft,
} from './automation-draft.ts'
import { AutomationFields } from './automation-fields.tsx'
import { SimulateDialog } from './simulate-dialog.tsx'

/** `source` and `event_type` of the address are what plugins link to. */
export function NewAutomationScreen() {
  const place = usePlace()
  const { source = '', event_type: event = '' } = useLocation().search as Query
  const given = { ...(source === '' ? {} : { source }), ...(event === '' ? {} : { event }) }
  return (
    <AutomationForm
      key={`${source} ${event}`}
      place={place}
      title={text.automations.create}
      first={emptyAutomation}
      given={given}
      stored={undefined}
    />
  )
}

export function AutomationScreen() {
  const place = usePlace()
  const { id } = useParams({ strict: false }) as { id: string }
  const automation = useRead(place, ['automations.retrieve', id], () =>
    v1(place).GET('/v1/automations/{id}', { params: { path: { id } } }),
  )
  return (
    <Loaded title={text.screens.automations} query={automation}>
      {(stored) => <StoredAutomation key={id} place={place} stored={stored} />}
    </Loaded>
  )
}

/** The form is filled once, when the templates are known that its message may name. */
function StoredAutomation({ place, stored }: { place: Place; stored: Automation }) {
  const { templates, isPending } = useTemplates(place, stored.channel_id, stored.message.type)
  if (isPending) return <Waiting />
  return (
    <AutomationForm place={place} title={stored.name} first={draftOf(stored, templates)} given={{}} stored={stored} />
  )
}

const words = text.automations.form

/** The form of an automation, with what can be done with it and what it has done. */
interface AutomationFormProps {
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

function AutomationForm({ place, title, first, given, stored }: AutomationFormProps) {
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

const runWords = text.automations.runs
const rowsMax = 50

type Run = components['schemas']['AutomationRun']

/** The latest runs: of one automation, or of all. */
export function RunsTable({ place, automation }: { place: Place; automation?: string }) {
  const query = { limit: rowsMax, ...(automation === undefined ? {} : { automation }) }
  const runs = useRead(place, ['automation_runs.list', query], () =>
    v1(place).GET('/v1/automation_runs', { params: { query } }),
  )
  const columns = useColumns(place)
  return (
    <section className="after" aria-busy={runs.isPending}>
      <Title order={2} size="h4" mb="xs">
        {runWords.title}
      </Title>
      {runs.isError && <ProblemAlert problem={problemOf(runs.error)} onAgain={() => void runs.refetch()} />}
      <RowsTable name={runWords.title} columns={columns} rows={runs.data?.data ?? []} />
    </section>
  )
}

function useColumns(place: Place): Column<Run>[] {
  const time = useTime()
  return [
    { id: 'id', header: runWords.id, cell: ({ id }) => id },
    { id: 'status', header: runWords.status, cell: ({ status }) => <Status status={status} /> },
    { id: 'reason', header: runWords.reason, cell: ({ reason }) => (reason === null ? '' : inWords(reason)) },
    { id: 'scheduled', header: runWords.scheduled, cell: ({ scheduled_for }) => time(scheduled_for) },
    {
      id: 'message',
      header: runWords.message,
      cell: ({ id, message_id }) =>
        message_id !== null && (
          <PathLink to={pathTo(place, 'messages', message_id)} aria-label={runWords.openNamed(id)}>
            {runWords.open}
          </PathLink>
        ),
    },
  ]
}
