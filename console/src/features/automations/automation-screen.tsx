/** One automation: form, simulation and runs. */
import { Stack, Text, Title } from '@mantine/core'
import { useLocation, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { problemOf, v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { useDisabledReason } from '../../api/session.ts'
import { useApiQuery } from '../../api/use-api-query.ts'
import { pathTo, type Workspace, type Query, useWorkspace } from '../../app/paths.ts'
import { ContentPreview, useTemplates } from '../../components/content/content-fields.tsx'
import { useChannels } from '../../components/content/use-channels.ts'
import { SuccessNotice, ConflictAlert, ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ApiButton, type ApiRequest } from '../../components/feedback/api-button.tsx'
import { QueryScreen, Screen, LoadingIndicator } from '../../components/feedback/screen.tsx'
import { ActionButton, DeleteButton } from '../../components/form/action-button.tsx'
import { Region, Status } from '../../components/format/facts.tsx'
import { useTimeFormat } from '../../components/format/intl.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { type Column, RowsTable } from '../../components/table/list-table.tsx'
import { humanize, text } from '../../text/en.ts'
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

/** Plugins link here with `source` and `event_type`. */
export function NewAutomationScreen() {
  const workspace = useWorkspace()
  const { source = '', event_type: event = '' } = useLocation().search as Query
  const given = { ...(source === '' ? {} : { source }), ...(event === '' ? {} : { event }) }
  return (
    <AutomationForm
      key={`${source} ${event}`}
      workspace={workspace}
      title={text.automations.create}
      first={emptyAutomation}
      given={given}
      stored={undefined}
    />
  )
}

export function AutomationScreen() {
  const workspace = useWorkspace()
  const { id } = useParams({ strict: false }) as { id: string }
  const automation = useApiQuery(workspace, ['automations.retrieve', id], () =>
    v1(workspace).GET('/v1/automations/{id}', { params: { path: { id } } }),
  )
  return (
    <QueryScreen title={text.screens.automations} query={automation}>
      {(stored) => <StoredAutomation key={id} workspace={workspace} stored={stored} />}
    </QueryScreen>
  )
}

function StoredAutomation({ workspace, stored }: { workspace: Workspace; stored: Automation }) {
  const { templates, isPending } = useTemplates(workspace, stored.channel_id, stored.message.type)
  if (isPending) return <LoadingIndicator />
  return (
    <AutomationForm
      workspace={workspace}
      title={stored.name}
      first={draftOf(stored, templates)}
      given={{}}
      stored={stored}
    />
  )
}

const words = text.automations.form

interface AutomationFormProps {
  readonly workspace: Workspace
  readonly title: string
  readonly first: AutomationDraft
  /** From the URL; overrides a stored draft. */
  readonly given: Partial<AutomationDraft>
  readonly stored: Automation | undefined
}

const requestOf = (id: string, body: object): ApiRequest =>
  id === ''
    ? { operation: 'automations.create', method: 'POST', path: '/v1/automations', body }
    : { operation: 'automations.update', method: 'PATCH', path: `/v1/automations/${id}`, body }

function AutomationForm({ workspace, title, first, given, stored }: AutomationFormProps) {
  const channels = useChannels(workspace)
  const sources = useSources(workspace)
  const form = useAutomationDraft(workspace, first, given, channels)
  const { draft } = form
  const { templates } = useTemplates(workspace, draft.channel, draft.type)
  const [isSimulating, setSimulating] = useState(false)
  const body = creationOf(draft, templates)
  const lacksSource = sources.data !== undefined && sources.data.data.length === 0
  return (
    <Screen title={title} mode={workspace.mode} actions={<ApiButton request={requestOf(draft.id, body)} />}>
      {lacksSource && (
        <Text mb="md">
          {words.noSource} <PathLink to={pathTo(workspace, 'integrations')}>{words.toSources}</PathLink>
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
          <ConflictAlert when={form.hasConflict} onDiscard={form.discard} />
          <SuccessNotice text={form.done} />
          {form.problem !== undefined && <ProblemAlert problem={form.problem} />}
          <FormActions
            workspace={workspace}
            form={form}
            body={body}
            isActive={stored?.status === 'active'}
            onSimulate={setSimulating}
          />
        </Stack>
        <div className="sticky">
          <Region title={words.preview}>
            <ContentPreview draft={draft} templates={templates} />
          </Region>
        </div>
      </div>
      {stored !== undefined && <RunsTable workspace={workspace} automation={stored.id} />}
      {isSimulating && (
        <SimulateDialog
          workspace={workspace}
          id={draft.id}
          source={draft.source}
          type={draft.event}
          onClose={() => setSimulating(false)}
        />
      )}
    </Screen>
  )
}

interface FormActionsProps {
  readonly workspace: Workspace
  readonly form: ReturnType<typeof useAutomationDraft>
  readonly body: ReturnType<typeof creationOf>
  readonly isActive: boolean
  readonly onSimulate: (isSimulating: boolean) => void
}

function FormActions({ workspace, form, body, isActive, onSimulate }: FormActionsProps) {
  const disabledReason = useDisabledReason(workspace)('integrations:write')
  const button = (label: string, after: After, reason = disabledReason) => (
    <ActionButton
      label={label}
      variant={after === 'stay' ? 'filled' : 'default'}
      disabledReason={reason}
      loading={form.isSaving === after}
      disabled={form.isSaving !== undefined}
      onPress={() => form.save(body, after, () => onSimulate(after === 'simulate'))}
    />
  )
  return (
    <div className="actions">
      {button(words.save, 'stay')}
      {button(words.simulate, 'simulate')}
      {button(words.activate, 'activate', disabledReason ?? (isActive ? words.isActive : undefined))}
      {isActive && button(words.pause, 'pause')}
      {form.draft.id !== '' && (
        <DeleteAutomation
          workspace={workspace}
          id={form.draft.id}
          disabledReason={disabledReason}
          onDeleted={form.discard}
        />
      )}
    </div>
  )
}

interface DeleteProps {
  readonly workspace: Workspace
  readonly id: string
  readonly disabledReason: string | undefined
  readonly onDeleted: () => void
}

const DeleteAutomation = (props: DeleteProps) => (
  <DeleteButton
    {...props}
    words={text.automations.form}
    remove={(id) => v1(props.workspace).DELETE('/v1/automations/{id}', { params: { path: { id } } })}
    section="automations"
    invalidate={['automations.list', 'integration_sources.']}
  />
)

const runWords = text.automations.runs
const rowsMax = 50

type Run = components['schemas']['AutomationRun']

export function RunsTable({ workspace, automation }: { workspace: Workspace; automation?: string }) {
  const query = { limit: rowsMax, ...(automation === undefined ? {} : { automation }) }
  const runs = useApiQuery(workspace, ['automation_runs.list', query], () =>
    v1(workspace).GET('/v1/automation_runs', { params: { query } }),
  )
  const columns = useColumns(workspace)
  return (
    <section className="after" aria-busy={runs.isPending}>
      <Title order={2} size="h4" mb="xs">
        {runWords.title}
      </Title>
      {runs.isError && <ProblemAlert problem={problemOf(runs.error)} onRetry={() => void runs.refetch()} />}
      <RowsTable name={runWords.title} columns={columns} rows={runs.data?.data ?? []} />
    </section>
  )
}

function useColumns(workspace: Workspace): Column<Run>[] {
  const time = useTimeFormat()
  return [
    { id: 'id', header: runWords.id, cell: ({ id }) => id },
    { id: 'status', header: runWords.status, cell: ({ status }) => <Status status={status} /> },
    { id: 'reason', header: runWords.reason, cell: ({ reason }) => (reason === null ? '' : humanize(reason)) },
    { id: 'scheduled', header: runWords.scheduled, cell: ({ scheduled_for }) => time(scheduled_for) },
    {
      id: 'message',
      header: runWords.message,
      cell: ({ id, message_id }) =>
        message_id !== null && (
          <PathLink to={pathTo(workspace, 'messages', message_id)} aria-label={runWords.openNamed(id)}>
            {runWords.open}
          </PathLink>
        ),
    },
  ]
}
