/** `integrations`: shops and sites that report what happens there. */
import { useState } from 'react'
import { v1 } from '../../api/client.ts'
import { useBecause } from '../../api/may.ts'
import { listQuery, useRead } from '../../api/use-read.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { ApiButton } from '../../parts/api-button.tsx'
import { ListTable, type Column } from '../../parts/list-table.tsx'
import { PathLink } from '../../parts/path-link.tsx'
import { Screen } from '../../parts/screen.tsx'
import { Status } from '../../parts/status.tsx'
import { useTime } from '../../parts/times.ts'
import { useFilters } from '../../parts/use-filters.ts'
import { usePlace } from '../../parts/use-place.ts'
import { pathTo, type Place } from '../../paths.ts'
import { queryText } from '../../query.ts'
import { text } from '../../text/en.ts'
import { NewSource } from './new-source.tsx'
import type { Source } from './source.ts'

const { integrations: words } = text

export function SourcesScreen() {
  const place = usePlace()
  const because = useBecause(place)('integrations:write')
  const [isCreating, setCreating] = useState(false)
  const { query, clear } = useFilters([])
  const sources = useRead(place, ['integration_sources.list', query], () =>
    v1(place).GET('/v1/integration_sources', { params: { query: listQuery(query) } }),
  )
  const columns = useColumns(place)
  return (
    <Screen
      title={text.screens.integrations}
      mode={place.mode}
      actions={
        <>
          <ApiButton
            request={{
              operation: 'integration_sources.list',
              method: 'GET',
              path: `/v1/integration_sources${queryText({ ...query, limit: '50' })}`,
            }}
          />
          <ActionButton label={words.create} because={because} onPress={() => setCreating(true)} />
        </>
      }
    >
      <ListTable
        name={text.screens.integrations}
        columns={columns}
        query={sources}
        isFiltered={false}
        onClearFilters={clear}
        empty={words.none}
        emptyAction={
          because === undefined && (
            <ActionButton label={words.first} variant="light" onPress={() => setCreating(true)} />
          )
        }
      />
      {isCreating && <NewSource place={place} onClose={() => setCreating(false)} />}
    </Screen>
  )
}

function useColumns(place: Place): Column<Source>[] {
  const time = useTime()
  return [
    {
      id: 'name',
      header: words.columns.name,
      cell: ({ id, name }) => (
        <PathLink to={pathTo(place, 'integrations', id)}>
          <bdi>{name}</bdi>
        </PathLink>
      ),
    },
    { id: 'platform', header: words.columns.platform, cell: ({ platform }) => platform },
    { id: 'store', header: words.columns.store, cell: ({ external_id }) => <bdi>{external_id}</bdi> },
    { id: 'status', header: words.columns.status, cell: ({ status }) => <Status status={status} /> },
    { id: 'last', header: words.columns.last, cell: ({ last_event_at }) => time(last_event_at) },
  ]
}
