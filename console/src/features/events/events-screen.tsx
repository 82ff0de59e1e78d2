/** The list of events, and one event. */
import { Code, Group, Stack } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { problemOf, v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { listQuery, useApiQuery } from '../../api/use-api-query.ts'
import { pathTo, queryText, useWorkspace } from '../../app/paths.ts'
import { ApiButton } from '../../components/feedback/api-button.tsx'
import { CopyButton } from '../../components/feedback/copy-button.tsx'
import { QueryScreen, Screen } from '../../components/feedback/screen.tsx'
import { DescriptionList, Region } from '../../components/format/facts.tsx'
import { parseLocalTime, useTimeFormat, useZone } from '../../components/format/intl.tsx'
import { ObjectLink, PathLink } from '../../components/format/links.tsx'
import { FilterText, useFilters } from '../../components/table/filters.tsx'
import { type Column, ListTable } from '../../components/table/list-table.tsx'
import { text } from '../../text/en.ts'

type Event = components['schemas']['Event']

const filters = ['type', 'object_id', 'created_after', 'created_before'] as const
const labels = {
  type: text.events.type,
  object_id: text.events.object,
  created_after: text.events.createdAfter,
  created_before: text.events.createdBefore,
}

function objectIdOf({ data: { object } }: Event): string | undefined {
  const id = 'id' in object ? object.id : undefined
  return typeof id === 'string' ? id : undefined
}

export function EventsScreen() {
  const workspace = useWorkspace()
  const zone = useZone()
  const { query, isFiltered, set, clear } = useFilters(filters)
  const events = useApiQuery(workspace, ['events.list', query], () =>
    v1(workspace).GET('/v1/events', { params: { query: listQuery(query) } }),
  )
  const problem = events.isError ? problemOf(events.error) : undefined
  const columns = useColumns()
  return (
    <Screen
      title={text.screens.events}
      mode={workspace.mode}
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
            onApply={(typed) =>
              set(name, typed !== '' && name.startsWith('created') ? parseLocalTime(typed, zone) : typed)
            }
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
  const time = useTimeFormat()
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

export function EventScreen() {
  const workspace = useWorkspace()
  const time = useTimeFormat()
  const { id } = useParams({ strict: false }) as { id: string }
  const query = useApiQuery(workspace, ['events.retrieve', id], () =>
    v1(workspace).GET('/v1/events/{id}', { params: { path: { id } } }),
  )
  const words = text.events
  return (
    <QueryScreen title={words.event} query={query}>
      {(event) => {
        const object = objectIdOf(event)
        const json = JSON.stringify(event, null, 2)
        return (
          <Screen
            title={event.type}
            mode={workspace.mode}
            actions={<ApiButton request={{ operation: 'events.retrieve', method: 'GET', path: `/v1/events/${id}` }} />}
          >
            <Stack>
              <Region title={words.facts}>
                <DescriptionList
                  of={[
                    [words.id, event.id],
                    [words.columns.object, object === undefined ? null : <ObjectLink key="object" id={object} />],
                    [words.columns.at, time(event.created_at)],
                  ]}
                />
                {object !== undefined && (
                  <PathLink to={pathTo(workspace, 'events')} search={{ object_id: object }}>
                    {words.all}
                  </PathLink>
                )}
              </Region>
              <Region title={words.event}>
                <Code block className="code" tabIndex={0} dir="ltr">
                  {json}
                </Code>
                <Group justify="flex-end" mt="xs">
                  <CopyButton value={json} />
                </Group>
              </Region>
            </Stack>
          </Screen>
        )
      }}
    </QueryScreen>
  )
}
