/** The list of automations, and their latest runs. */
import { Stack } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { v1 } from '../../api/client.ts'
import { useDisabledReason } from '../../api/session.ts'
import { listQuery, useApiQuery } from '../../api/use-api-query.ts'
import { pathTo, type Workspace, queryText, useWorkspace } from '../../app/paths.ts'
import { ApiButton } from '../../components/feedback/api-button.tsx'
import { Screen } from '../../components/feedback/screen.tsx'
import { ActionButton } from '../../components/form/action-button.tsx'
import { ChoiceField } from '../../components/form/fields.tsx'
import { Status } from '../../components/format/facts.tsx'
import { useTimeFormat } from '../../components/format/intl.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { type Filters, useFilters } from '../../components/table/filters.tsx'
import { type Column, ListTable } from '../../components/table/list-table.tsx'
import { humanize, text } from '../../text/en.ts'
import { type Source, useSources } from '../integrations/sources-screen.tsx'
import type { Automation } from './automation-draft.ts'
import { RunsTable } from './automation-screen.tsx'

const { automations: words } = text
const statuses = ['active', 'paused'] as const

export function AutomationsScreen() {
  const workspace = useWorkspace()
  const navigate = useNavigate()
  const disabledReason = useDisabledReason(workspace)('integrations:write')
  const filters = useFilters(['source', 'status'])
  const { query, isFiltered, clear } = filters
  const automations = useApiQuery(workspace, ['automations.list', query], () =>
    v1(workspace).GET('/v1/automations', { params: { query: listQuery(query) } }),
  )
  const sources = useSources(workspace).data?.data ?? []
  const columns = useColumns(workspace, (id) => sources.find((source) => source.id === id)?.name ?? id)
  const create = () => void navigate({ to: pathTo(workspace, 'automations', 'new') as never })
  return (
    <Screen
      title={text.screens.automations}
      mode={workspace.mode}
      actions={
        <>
          <ApiButton
            request={{
              operation: 'automations.list',
              method: 'GET',
              path: `/v1/automations${queryText({ ...query, limit: '50' })}`,
            }}
          />
          <ActionButton label={words.create} disabledReason={disabledReason} onPress={create} />
        </>
      }
    >
      <AutomationFilters filters={filters} sources={sources} />
      <Stack>
        <ListTable
          name={text.screens.automations}
          columns={columns}
          query={automations}
          isFiltered={isFiltered}
          onClearFilters={clear}
          empty={words.none}
          emptyAction={
            disabledReason === undefined && <ActionButton label={words.first} variant="light" onPress={create} />
          }
        />
        <RunsTable workspace={workspace} />
      </Stack>
    </Screen>
  )
}

function AutomationFilters({ filters: { query, set }, sources }: { filters: Filters; sources: readonly Source[] }) {
  const field = (name: 'source' | 'status') => ({
    any: words.any,
    value: query[name] ?? '',
    onChange: (value: string) => set(name, value),
  })
  return (
    <div className="filters">
      <ChoiceField
        label={words.columns.source}
        choices={sources.map(({ id, name }) => ({ value: id, label: name }))}
        {...field('source')}
      />
      <ChoiceField
        label={words.columns.status}
        choices={statuses.map((value) => ({ value, label: humanize(value) }))}
        {...field('status')}
      />
    </div>
  )
}

function useColumns(workspace: Workspace, sourceName: (id: string) => string): Column<Automation>[] {
  const time = useTimeFormat()
  return [
    {
      id: 'name',
      header: words.columns.name,
      cell: ({ id, name }) => (
        <PathLink to={pathTo(workspace, 'automations', id)}>
          <bdi>{name}</bdi>
        </PathLink>
      ),
    },
    { id: 'source', header: words.columns.source, cell: ({ source_id }) => <bdi>{sourceName(source_id)}</bdi> },
    { id: 'event', header: words.columns.event, cell: ({ event_type }) => event_type },
    { id: 'status', header: words.columns.status, cell: ({ status }) => <Status status={status} /> },
    { id: 'changed', header: words.columns.changed, cell: ({ updated_at }) => time(updated_at) },
  ]
}
