/** API keys, the request log and code snippets. */
import { Code, Stack, Tabs, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useLocation } from '@tanstack/react-router'
import { useState } from 'react'
import { unwrap, own, problemOf } from '../../api/client.ts'
import type { components } from '../../api/generated/own.ts'
import { listQuery, useApiQuery } from '../../api/use-api-query.ts'
import { type Query, useWorkspace } from '../../app/paths.ts'
import { ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ApiButton } from '../../components/feedback/api-button.tsx'
import { CopyButton } from '../../components/feedback/copy-button.tsx'
import { Screen, LoadingIndicator } from '../../components/feedback/screen.tsx'
import { ChoiceField } from '../../components/form/fields.tsx'
import { useTimeFormat } from '../../components/format/intl.tsx'
import { FilterText, useFilters } from '../../components/table/filters.tsx'
import { type Column, ListTable, RowsTable } from '../../components/table/list-table.tsx'
import { text } from '../../text/en.ts'
import { snippets } from '../../text/en/developers.ts'
import { ApiKeys } from './api-keys.tsx'

export function DevelopersScreen() {
  const workspace = useWorkspace()
  const { tabs } = text.developers
  const { request_id } = useLocation().search as Query
  const [tab, setTab] = useState('keys')
  const [seen, setSeen] = useState<string>()
  if (request_id !== seen) {
    setSeen(request_id)
    if (request_id !== undefined) setTab('requests')
  }
  return (
    <Screen
      title={text.screens.developers}
      mode={workspace.mode}
      actions={<ApiButton request={{ method: 'GET', path: '/console/api/api_keys', workspace }} />}
    >
      <Tabs value={tab} onChange={(chosen) => setTab(chosen ?? 'keys')} keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="keys">{tabs.keys}</Tabs.Tab>
          <Tabs.Tab value="requests">{tabs.requests}</Tabs.Tab>
          <Tabs.Tab value="snippets">{tabs.snippets}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="keys">
          <ApiKeys />
        </Tabs.Panel>
        <Tabs.Panel value="requests">
          <Requests />
        </Tabs.Panel>
        <Tabs.Panel value="snippets">
          <Snippets />
        </Tabs.Panel>
      </Tabs>
    </Screen>
  )
}

const languages = ['curl', 'typescript', 'python'] as const

function Snippets() {
  const words = text.developers
  return (
    <Stack>
      <Text size="sm">{words.snippetsWhy}</Text>
      <Tabs defaultValue="curl" keepMounted={false}>
        <Tabs.List mb="sm">
          {languages.map((language) => (
            <Tabs.Tab key={language} value={language}>
              {words.languages[language]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {languages.map((language) => (
          <Tabs.Panel key={language} value={language}>
            <Stack align="flex-start">
              <Code block className="code">
                {snippets[language](location.origin)}
              </Code>
              <CopyButton value={snippets[language](location.origin)} />
            </Stack>
          </Tabs.Panel>
        ))}
      </Tabs>
    </Stack>
  )
}

type LoggedRequest = components['schemas']['LoggedRequest']

export function Requests() {
  const workspace = useWorkspace()
  const { query, isFiltered, set, clear } = useFilters(['refused', 'request_id'])
  const { request_id, ...listed } = query
  const requests = useApiQuery(workspace, ['requests.list', listed], () =>
    own(workspace).GET('/console/api/requests', { params: { query: listQuery(listed) } }),
  )
  const columns = useColumns()
  const words = text.developers
  return (
    <Stack>
      <Text size="sm">{words.requestsWhy}</Text>
      <div className="filters">
        <FilterText
          label={words.requestId}
          type="search"
          value={request_id ?? ''}
          onApply={(value) => set('request_id', value)}
        />
        <ChoiceField
          label={words.refused}
          any={words.all}
          choices={[{ value: 'true', label: words.refusedOnly }]}
          value={query['refused'] ?? ''}
          onChange={(value) => set('refused', value)}
        />
      </div>
      {request_id === undefined ? (
        <ListTable
          name={words.tabs.requests}
          columns={columns}
          query={requests}
          isFiltered={isFiltered}
          onClearFilters={clear}
          empty={words.requestsEmpty}
        />
      ) : (
        <OneRequest id={request_id} columns={columns} />
      )}
    </Stack>
  )
}

function OneRequest({ id, columns }: { id: string; columns: readonly Column<LoggedRequest>[] }) {
  const workspace = useWorkspace()
  const found = useQuery({
    queryKey: [workspace.account, workspace.mode, 'requests.retrieve', id],
    queryFn: () => unwrap(own(workspace).GET('/console/api/requests/{id}', { params: { path: { id } } })),
  })
  if (found.isError) return <ProblemAlert problem={problemOf(found.error)} />
  return found.data === undefined ? (
    <LoadingIndicator />
  ) : (
    <RowsTable name={text.developers.tabs.requests} columns={columns} rows={[found.data]} />
  )
}

function useColumns(): Column<LoggedRequest>[] {
  const time = useTimeFormat()
  const { requestColumns: columns, took } = text.developers
  return [
    { id: 'at', header: columns.at, cell: ({ created_at }) => time(created_at) },
    { id: 'id', header: columns.id, cell: ({ id }) => id },
    { id: 'what', header: columns.what, cell: whatOf },
    { id: 'status', header: columns.status, cell: ({ status }) => status },
    { id: 'code', header: columns.code, cell: ({ code }) => code ?? '–' },
    { id: 'by', header: columns.by, cell: ({ key_id, user_id }) => key_id ?? user_id ?? '–' },
    { id: 'took', header: columns.took, cell: ({ duration_ms }) => took(duration_ms) },
  ]
}

function whatOf({ method, path, count }: LoggedRequest) {
  return (
    <>
      <bdi className="code">{`${method} ${path}`}</bdi>
      {count > 1 && <Text span size="sm">{` ${text.developers.times(count)}`}</Text>}
    </>
  )
}
