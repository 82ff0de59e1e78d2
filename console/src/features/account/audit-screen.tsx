/** The audit log. */
import { Code } from '@mantine/core'
import type { ReactNode } from 'react'
import { own } from '../../api/client.ts'
import type { components } from '../../api/generated/own.ts'
import { listQuery, useApiQuery } from '../../api/use-api-query.ts'
import { useWorkspace } from '../../app/paths.ts'
import { ApiButton } from '../../components/feedback/api-button.tsx'
import { Screen } from '../../components/feedback/screen.tsx'
import { parseLocalTime, useTimeFormat, useZone } from '../../components/format/intl.tsx'
import { PathLink, pathOfObject } from '../../components/format/links.tsx'
import { FilterText, useFilters } from '../../components/table/filters.tsx'
import { type Column, ListTable } from '../../components/table/list-table.tsx'
import { text } from '../../text/en.ts'

type Entry = components['schemas']['AuditEntry']

export function AuditScreen() {
  const workspace = useWorkspace()
  const zone = useZone()
  const { query, isFiltered, set, clear } = useFilters(['actor', 'object_id', 'created_after', 'created_before'])
  const entries = useApiQuery(workspace, ['audit_entries.list', query], () =>
    own(workspace).GET('/console/api/audit_entries', { params: { query: listQuery(query) } }),
  )
  const columns = useColumns()
  const words = text.audit
  return (
    <Screen
      title={text.screens.audit}
      mode={workspace.mode}
      actions={<ApiButton request={{ method: 'GET', path: '/console/api/audit_entries', workspace }} />}
    >
      <div className="filters">
        <FilterText label={words.actor} value={query['actor'] ?? ''} onApply={(value) => set('actor', value)} />
        <FilterText
          label={words.object}
          value={query['object_id'] ?? ''}
          onApply={(value) => set('object_id', value)}
        />
        <FilterText
          label={words.createdAfter}
          value={query['created_after'] ?? ''}
          appliesOnBlur
          onApply={(value) => set('created_after', value === '' ? '' : parseLocalTime(value, zone))}
        />
        <FilterText
          label={words.createdBefore}
          value={query['created_before'] ?? ''}
          appliesOnBlur
          onApply={(value) => set('created_before', value === '' ? '' : parseLocalTime(value, zone))}
        />
      </div>
      <ListTable
        name={text.screens.audit}
        columns={columns}
        query={entries}
        isFiltered={isFiltered}
        onClearFilters={clear}
        empty={words.empty}
      />
    </Screen>
  )
}

function useColumns(): Column<Entry>[] {
  const workspace = useWorkspace()
  const time = useTimeFormat()
  const { columns, as } = text.audit
  return [
    { id: 'at', header: columns.at, cell: ({ created_at }) => time(created_at) },
    {
      id: 'actor',
      header: columns.actor,
      cell: ({ actor, impersonator_id }) => (
        <Id>{impersonator_id === null ? actor.id : as(impersonator_id, actor.id)}</Id>
      ),
    },
    { id: 'action', header: columns.action, cell: ({ action }) => action },
    {
      id: 'object',
      header: columns.object,
      cell: ({ object_id }) => {
        const path = object_id === null ? undefined : pathOfObject(workspace, object_id)
        return <Id>{path === undefined ? object_id : <PathLink to={path}>{object_id}</PathLink>}</Id>
      },
    },
    {
      id: 'changes',
      header: columns.changes,
      cell: ({ changes }) => <Code className="code">{JSON.stringify(changes)}</Code>,
    },
    { id: 'address', header: columns.address, cell: ({ address }) => address },
    { id: 'request', header: columns.request, cell: ({ request_id }) => <Id>{request_id}</Id> },
  ]
}

const Id = ({ children }: { children: ReactNode }) => <span className="id">{children}</span>
