/** One source: webhook addresses and received events. */
import { Stack, Text, TextInput, Title } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { problemOf, v1 } from '../../api/client.ts'
import { receiptStatuses } from '../../api/generated/tables.ts'
import type { components } from '../../api/generated/v1.ts'
import { listQuery, useApiQuery } from '../../api/use-api-query.ts'
import { pathTo, type Workspace, useWorkspace } from '../../app/paths.ts'
import { ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ApiButton } from '../../components/feedback/api-button.tsx'
import { QueryScreen, Screen } from '../../components/feedback/screen.tsx'
import { ChoiceField } from '../../components/form/fields.tsx'
import { DescriptionList, Region, Status } from '../../components/format/facts.tsx'
import { useTimeFormat } from '../../components/format/intl.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { FilterText, useFilters } from '../../components/table/filters.tsx'
import { type Column, Pager, RowsTable } from '../../components/table/list-table.tsx'
import { humanize, text } from '../../text/en.ts'
import { SourceActions } from './source-actions.tsx'
import type { Source } from './sources-screen.tsx'

const words = text.integrations.one

export function SourceScreen() {
  const workspace = useWorkspace()
  const { id } = useParams({ strict: false }) as { id: string }
  const source = useApiQuery(workspace, ['integration_sources.retrieve', id], () =>
    v1(workspace).GET('/v1/integration_sources/{id}', { params: { path: { id } } }),
  )
  return (
    <QueryScreen title={text.screens.integrations} query={source}>
      {(one) => <ShownSource workspace={workspace} source={one} />}
    </QueryScreen>
  )
}

function ShownSource({ workspace, source }: { workspace: Workspace; source: Source }) {
  const time = useTimeFormat()
  const columns = text.integrations.columns
  return (
    <Screen
      title={source.name}
      mode={workspace.mode}
      actions={
        <ApiButton
          request={{
            operation: 'integration_sources.retrieve',
            method: 'GET',
            path: `/v1/integration_sources/${source.id}`,
          }}
        />
      }
    >
      <Stack>
        <SourceActions workspace={workspace} source={source} />
        <Region title={words.facts}>
          <DescriptionList
            of={[
              [words.status, <Status key="status" status={source.status} />],
              [words.id, source.id],
              [columns.platform, source.platform],
              [columns.store, source.external_id],
              [text.integrations.form.url, source.url],
              [words.version, source.plugin_version],
              [columns.last, time(source.last_event_at)],
              [words.events, source.enabled_events.length === 0 ? words.none : source.enabled_events.join(', ')],
            ]}
          />
          <PathLink to={pathTo(workspace, 'automations', 'new')} search={{ source: source.id }}>
            {words.automate}
          </PathLink>
        </Region>
        <Region title={words.addresses}>
          <Stack gap="sm">
            {Object.entries(source.ingest_urls).map(([platform, url]) => (
              <TextInput key={platform} label={platform} value={url} readOnly />
            ))}
            {Object.keys(source.ingest_urls).length === 0 && <Text size="sm">{words.none}</Text>}
          </Stack>
        </Region>
        <ReceiptsTable workspace={workspace} source={source.id} />
      </Stack>
    </Screen>
  )
}

const receiptWords = text.integrations.receipts

type Receipt = components['schemas']['AutomationEvent']

function ReceiptsTable({ workspace, source }: { workspace: Workspace; source: string }) {
  const { query, set } = useFilters(['type', 'status'])
  const asked = { ...query, source }
  const receipts = useApiQuery(workspace, ['automation_events.list', asked], () =>
    v1(workspace).GET('/v1/automation_events', { params: { query: listQuery(asked) } }),
  )
  const columns = useColumns()
  const type = query['type'] ?? ''
  return (
    <section aria-busy={receipts.isPending || receipts.isPlaceholderData}>
      <Title order={2} size="h4" mb="xs">
        {text.integrations.one.receipts}
      </Title>
      <div className="filters">
        <FilterText key={type} label={receiptWords.type} value={type} onApply={(typed) => set('type', typed)} />
        <ChoiceField
          label={receiptWords.status}
          any={receiptWords.any}
          choices={receiptStatuses.map((value) => ({ value, label: humanize(value) }))}
          value={query['status'] ?? ''}
          onChange={(status) => set('status', status)}
        />
      </div>
      {receipts.isError && <ProblemAlert problem={problemOf(receipts.error)} onRetry={() => void receipts.refetch()} />}
      <RowsTable name={text.integrations.one.receipts} columns={columns} rows={receipts.data?.data ?? []} />
      {receipts.data !== undefined && <Pager page={receipts.data} />}
    </section>
  )
}

function useColumns(): Column<Receipt>[] {
  const time = useTimeFormat()
  return [
    { id: 'id', header: receiptWords.id, cell: ({ id }) => id },
    { id: 'type', header: receiptWords.type, cell: ({ type }) => type },
    { id: 'status', header: receiptWords.status, cell: ({ status }) => <Status status={status} /> },
    { id: 'reason', header: receiptWords.reason, cell: ({ reason }) => (reason === null ? '' : humanize(reason)) },
    {
      id: 'runs',
      header: receiptWords.runs,
      cell: ({ runs }) => runs.map(({ status }) => humanize(status)).join(', '),
    },
    { id: 'at', header: receiptWords.at, cell: ({ created_at }) => time(created_at) },
  ]
}
