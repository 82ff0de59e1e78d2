/** Webhook endpoints: what there is, and a new one with its secret. */
import { useState } from 'react'
import { v1 } from '../../api/client.ts'
import { useBecause } from '../../api/may.ts'
import { listQuery, useRead } from '../../api/use-read.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { ApiButton } from '../../parts/api-button.tsx'
import { Done } from '../../parts/done.tsx'
import { ListTable, type Column } from '../../parts/list-table.tsx'
import { PathLink } from '../../parts/path-link.tsx'
import { Screen } from '../../parts/screen.tsx'
import { SecretDialog } from '../../parts/secret-dialog.tsx'
import { Status } from '../../parts/status.tsx'
import { useTime } from '../../parts/times.ts'
import { useFilters } from '../../parts/use-filters.ts'
import { usePlace } from '../../parts/use-place.ts'
import { pathTo } from '../../paths.ts'
import { text } from '../../text/en.ts'
import { eventsOf, type Endpoint } from './endpoint.ts'
import { NewEndpoint } from './new-endpoint.tsx'

export function WebhooksScreen() {
  const place = usePlace()
  const because = useBecause(place)('webhooks:write')
  const { query, clear } = useFilters([])
  const [isOpen, setOpen] = useState(false)
  const [secret, setSecret] = useState<string>()
  const [done, setDone] = useState('')
  const endpoints = useRead(place, ['webhook_endpoints.list', query], () =>
    v1(place).GET('/v1/webhook_endpoints', { params: { query: listQuery(query) } }),
  )
  const columns = useColumns()
  const words = text.webhooks
  const create = <ActionButton label={words.create} because={because} onPress={() => setOpen(true)} />
  const isEmpty = endpoints.data?.data.length === 0
  return (
    <Screen
      title={text.screens.webhooks}
      mode={place.mode}
      actions={
        <>
          <ApiButton
            request={{ operation: 'webhook_endpoints.list', method: 'GET', path: '/v1/webhook_endpoints?limit=50' }}
          />
          {!isEmpty && create}
        </>
      }
    >
      <Done text={done} />
      <ListTable
        name={text.screens.webhooks}
        columns={columns}
        query={endpoints}
        isFiltered={false}
        onClearFilters={clear}
        empty={words.empty}
        emptyAction={create}
      />
      {isOpen && (
        <NewEndpoint
          onClose={() => setOpen(false)}
          onCreated={(made) => {
            setOpen(false)
            setSecret(made.secret)
          }}
        />
      )}
      <SecretDialog
        title={words.secret}
        secret={secret}
        onStored={() => {
          setSecret(undefined)
          setDone(words.created)
        }}
      />
    </Screen>
  )
}

function useColumns(): Column<Endpoint>[] {
  const place = usePlace()
  const time = useTime()
  const { columns, allEvents } = text.webhooks
  return [
    {
      id: 'url',
      header: columns.url,
      cell: ({ id, url }) => (
        <PathLink to={pathTo(place, 'webhooks', id)}>
          <bdi>{url}</bdi>
        </PathLink>
      ),
    },
    { id: 'events', header: columns.events, cell: (endpoint) => eventsOf(endpoint, allEvents) },
    { id: 'status', header: columns.status, cell: ({ status }) => <Status status={status} /> },
    { id: 'description', header: columns.description, cell: ({ description }) => <bdi>{description}</bdi> },
    { id: 'created_at', header: columns.createdAt, cell: ({ created_at }) => time(created_at) },
  ]
}
