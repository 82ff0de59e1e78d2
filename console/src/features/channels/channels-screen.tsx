/** `channels`: who messages are sent by, and how each is. */
import { Button, Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { v1 } from '../../api/client.ts'
import { useBecause } from '../../api/session.ts'
import { listQuery, useRead } from '../../api/use-api-query.ts'
import { pathTo, type Place, usePlace } from '../../app/paths.ts'
import { ApiButton } from '../../components/feedback/api-button.tsx'
import { Screen } from '../../components/feedback/screen.tsx'
import { ActionButton } from '../../components/form/action-button.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { useFilters } from '../../components/table/filters.tsx'
import { type Column, ListTable } from '../../components/table/list-table.tsx'
import { inWords, text } from '../../text/en.ts'
import { type Channel, Health, rateOf } from './channel.tsx'

const { channels: words } = text

export function ChannelsScreen() {
  const place = usePlace()
  const { query, isFiltered, clear } = useFilters([])
  const list = useRead(place, ['channels.list', query], () =>
    v1(place).GET('/v1/channels', { params: { query: listQuery(query) } }),
  )
  return (
    <Screen
      title={text.screens.channels}
      mode={place.mode}
      actions={
        <>
          <ApiButton request={{ operation: 'channels.list', method: 'GET', path: '/v1/channels?limit=50' }} />
          <ConnectButton place={place} />
        </>
      }
    >
      {place.mode === 'test' && (
        <Text size="sm" mb="sm">
          {words.liveOnly}{' '}
          <PathLink to={pathTo({ ...place, mode: 'live' }, 'channels', 'new')}>{words.goLive}</PathLink>
        </Text>
      )}
      <ListTable
        name={text.screens.channels}
        columns={columnsOf(place)}
        query={list}
        isFiltered={isFiltered}
        onClearFilters={clear}
        empty={words.none}
        emptyAction={<FirstButton place={place} />}
      />
    </Screen>
  )
}

/** Why nobody connects a channel here. */
function useWhyNot(place: Place): string | undefined {
  const because = useBecause(place)('channels:write')
  return place.mode === 'test' ? words.liveOnly : because
}

function ConnectButton({ place }: { place: Place }) {
  const navigate = useNavigate()
  return (
    <ActionButton
      label={words.connect}
      size="xs"
      because={useWhyNot(place)}
      onPress={() => void navigate({ to: pathTo(place, 'channels', 'new') as never })}
    />
  )
}

/** Where there is none yet: the same, beside the text that says so. */
function FirstButton({ place }: { place: Place }) {
  const navigate = useNavigate()
  if (useWhyNot(place) !== undefined) return undefined
  return (
    <Button variant="light" onClick={() => void navigate({ to: pathTo(place, 'channels', 'new') as never })}>
      {words.first}
    </Button>
  )
}

const columnsOf = (place: Place): Column<Channel>[] => [
  {
    id: 'name',
    header: words.columns.name,
    cell: ({ id, name }) => (
      <PathLink to={pathTo(place, 'channels', id)}>
        <bdi>{name}</bdi>
      </PathLink>
    ),
  },
  { id: 'type', header: words.columns.type, cell: ({ type }) => inWords(type) },
  { id: 'provider', header: words.columns.provider, cell: ({ provider }) => inWords(provider) },
  { id: 'identifier', header: words.columns.identifier, cell: ({ identifier }) => identifier },
  { id: 'health', header: words.columns.health, cell: (channel) => <Health of={channel} /> },
  { id: 'rate', header: words.columns.rate, cell: rateOf },
]
