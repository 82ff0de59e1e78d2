/** `events`: what has happened, newest first, by type, object and time. */
import { v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { problemOf } from '../../api/problem.ts'
import { listQuery, useRead } from '../../api/use-read.ts'
import { ApiButton } from '../../parts/api-button.tsx'
import { FilterText } from '../../parts/filter-text.tsx'
import { ListTable, type Column } from '../../parts/list-table.tsx'
import { ObjectLink } from '../../parts/object-link.tsx'
import { Screen } from '../../parts/screen.tsx'
import { instantOf, useTime, useZone } from '../../parts/times.ts'
import { useFilters } from '../../parts/use-filters.ts'
import { usePlace } from '../../parts/use-place.ts'
import { queryText } from '../../query.ts'
import { text } from '../../text/en.ts'

type Event = components['schemas']['Event']

const filters = ['type', 'object_id', 'created_after', 'created_before'] as const
const labels = {
  type: text.events.type,
  object_id: text.events.object,
  created_after: text.events.createdAfter,
  created_before: text.events.createdBefore,
}

/** The resource that an event is about has an id, but for the balance. */
export function objectIdOf({ data: { object } }: Event): string | undefined {
  const id = 'id' in object ? object.id : undefined
  return typeof id === 'string' ? id : undefined
}

export function EventsScreen() {
  const place = usePlace()
  const zone = useZone()
  const { query, isFiltered, set, clear } = useFilters(filters)
  const events = useRead(place, ['events.list', query], () =>
    v1(place).GET('/v1/events', { params: { query: listQuery(query) } }),
  )
  const problem = events.isError ? problemOf(events.error) : undefined
  const columns = useColumns()
  return (
    <Screen
      title={text.screens.events}
      mode={place.mode}
      actions={
        <ApiButton
          request={{
            operation: 'events.list',
            method: 'GET',
            path: `/v1/events${queryText({ ...query, limit: '50' })}`,
          }}
        />
      }
    >
      <div className="filters">
        {filters.map((name) => (
          <FilterText
            key={`${name} ${query[name] ?? ''}`}
            label={labels[name]}
            value={query[name] ?? ''}
            error={problem?.about(name)}
            onApply={(typed) => set(name, typed !== '' && name.startsWith('created') ? instantOf(typed, zone) : typed)}
          />
        ))}
      </div>
      <ListTable
        name={text.screens.events}
        columns={columns}
        query={events}
        isFiltered={isFiltered}
        onClearFilters={clear}
        empty={text.events.empty}
      />
    </Screen>
  )
}

function useColumns(): Column<Event>[] {
  const time = useTime()
  const { columns } = text.events
  return [
    { id: 'id', header: columns.id, cell: ({ id }) => <ObjectLink id={id} /> },
    { id: 'type', header: columns.type, cell: ({ type }) => type },
    {
      id: 'object',
      header: columns.object,
      cell: (event) => {
        const id = objectIdOf(event)
        return id === undefined ? null : <ObjectLink id={id} />
      },
    },
    { id: 'at', header: columns.at, cell: ({ created_at }) => time(created_at) },
  ]
}
