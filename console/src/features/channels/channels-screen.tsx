/** The list of channels. */
import { Button, Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { v1 } from '../../api/client.ts'
import { useDisabledReason } from '../../api/session.ts'
import { listQuery, useApiQuery } from '../../api/use-api-query.ts'
import { pathTo, type Workspace, useWorkspace } from '../../app/paths.ts'
import { ApiButton } from '../../components/feedback/api-button.tsx'
import { Screen } from '../../components/feedback/screen.tsx'
import { ActionButton } from '../../components/form/action-button.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { useFilters } from '../../components/table/filters.tsx'
import { type Column, ListTable } from '../../components/table/list-table.tsx'
import { humanize, text } from '../../text/en.ts'
import { type Channel, Health, rateOf } from './channel.tsx'

const { channels: words } = text

export function ChannelsScreen() {
  const workspace = useWorkspace()
  const { query, isFiltered, clear } = useFilters([])
  const list = useApiQuery(workspace, ['channels.list', query], () =>
    v1(workspace).GET('/v1/channels', { params: { query: listQuery(query) } }),
  )
  return (
    <Screen
      title={text.screens.channels}
      mode={workspace.mode}
      actions={
        <>
          <ApiButton request={{ operation: 'channels.list', method: 'GET', path: '/v1/channels?limit=50' }} />
          <ConnectButton workspace={workspace} />
        </>
      }
    >
      {workspace.mode === 'test' && (
        <Text size="sm" mb="sm">
          {words.liveOnly}{' '}
          <PathLink to={pathTo({ ...workspace, mode: 'live' }, 'channels', 'new')}>{words.goLive}</PathLink>
        </Text>
      )}
      <ListTable
        name={text.screens.channels}
        columns={columnsOf(workspace)}
        query={list}
        isFiltered={isFiltered}
        onClearFilters={clear}
        empty={words.none}
        emptyAction={<ConnectFirstButton workspace={workspace} />}
      />
    </Screen>
  )
}

function useConnectDisabledReason(workspace: Workspace): string | undefined {
  const disabledReason = useDisabledReason(workspace)('channels:write')
  return workspace.mode === 'test' ? words.liveOnly : disabledReason
}

function ConnectButton({ workspace }: { workspace: Workspace }) {
  const navigate = useNavigate()
  return (
    <ActionButton
      label={words.connect}
      size="xs"
      disabledReason={useConnectDisabledReason(workspace)}
      onPress={() => void navigate({ to: pathTo(workspace, 'channels', 'new') as never })}
    />
  )
}

function ConnectFirstButton({ workspace }: { workspace: Workspace }) {
  const navigate = useNavigate()
  if (useConnectDisabledReason(workspace) !== undefined) return undefined
  return (
    <Button variant="light" onClick={() => void navigate({ to: pathTo(workspace, 'channels', 'new') as never })}>
      {words.first}
    </Button>
  )
}

const columnsOf = (workspace: Workspace): Column<Channel>[] => [
  {
    id: 'name',
    header: words.columns.name,
    cell: ({ id, name }) => (
      <PathLink to={pathTo(workspace, 'channels', id)}>
        <bdi>{name}</bdi>
      </PathLink>
    ),
  },
  { id: 'type', header: words.columns.type, cell: ({ type }) => humanize(type) },
  { id: 'provider', header: words.columns.provider, cell: ({ provider }) => humanize(provider) },
  { id: 'identifier', header: words.columns.identifier, cell: ({ identifier }) => identifier },
  { id: 'health', header: words.columns.health, cell: (channel) => <Health of={channel} /> },
  { id: 'rate', header: words.columns.rate, cell: rateOf },
]
