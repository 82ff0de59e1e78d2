/** The list of messages. */
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { v1 } from '../../api/client.ts'
import { messageStatuses } from '../../api/generated/tables.ts'
import type { components } from '../../api/generated/v1.ts'
import { useDisabledReason } from '../../api/session.ts'
import { listQuery, useApiQuery } from '../../api/use-api-query.ts'
import { pathTo, queryText, useWorkspace } from '../../app/paths.ts'
import { useChannels } from '../../components/content/use-channels.ts'
import { ApiButton } from '../../components/feedback/api-button.tsx'
import { Screen } from '../../components/feedback/screen.tsx'
import { ActionButton } from '../../components/form/action-button.tsx'
import { ChoiceField } from '../../components/form/fields.tsx'
import { Status } from '../../components/format/facts.tsx'
import { parseLocalTime, useTimeFormat, useZone } from '../../components/format/intl.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { type Filters, FilterText, useFilters } from '../../components/table/filters.tsx'
import { type Column, ListTable } from '../../components/table/list-table.tsx'
import { humanize, text } from '../../text/en.ts'
import { SendMessage } from './send-message.tsx'

type Message = components['schemas']['Message']

const filterNames = [
  'channel',
  'direction',
  'status',
  'to',
  'reference',
  'created_after',
  'created_before',
  'updated_after',
]

export function MessagesScreen() {
  const workspace = useWorkspace()
  const navigate = useNavigate()
  const disabledReason = useDisabledReason(workspace)('messages:write')
  const filters = useFilters(filterNames)
  const [isSending, setSending] = useState(false)
  const messages = useApiQuery(workspace, ['messages.list', filters.query], () =>
    v1(workspace).GET('/v1/messages', { params: { query: listQuery(filters.query) } }),
  )
  const columns = useColumns()
  const words = text.messages
  const send = <ActionButton label={words.send} disabledReason={disabledReason} onPress={() => setSending(true)} />
  return (
    <Screen
      title={text.screens.messages}
      mode={workspace.mode}
      actions={
        <>
          <ApiButton
            request={{
              operation: 'messages.list',
              method: 'GET',
              path: `/v1/messages${queryText({ limit: '50', ...filters.query })}`,
            }}
          />
          {send}
        </>
      }
    >
      <MessageFilters filters={filters} />
      <ListTable
        name={text.screens.messages}
        columns={columns}
        query={messages}
        isFiltered={filters.isFiltered}
        onClearFilters={filters.clear}
        empty={words.empty}
      />
      {isSending && (
        <SendMessage
          onClose={() => setSending(false)}
          onSent={({ id }) => void navigate({ to: pathTo(workspace, 'messages', id) as never })}
        />
      )}
    </Screen>
  )
}

function MessageFilters({ filters: { query, set } }: { filters: Filters }) {
  const workspace = useWorkspace()
  const zone = useZone()
  const channels = useChannels(workspace)
  const words = text.messages.filters
  const directions = (['outbound', 'inbound'] as const).map((value) => ({
    value,
    label: text.messages.directions[value],
  }))
  const statuses = messageStatuses.map((value) => ({ value, label: humanize(value) }))
  const choice = (name: string) => ({ value: query[name] ?? '', onChange: (value: string) => set(name, value) })
  const typed = (name: string) => query[name] ?? ''
  return (
    <search aria-label={text.list.filters} className="filters">
      <ChoiceField label={words.channel} any={words.anyChannel} choices={channels.choices} {...choice('channel')} />
      <ChoiceField label={words.direction} any={words.anyDirection} choices={directions} {...choice('direction')} />
      <ChoiceField label={words.status} any={words.anyStatus} choices={statuses} {...choice('status')} />
      <FilterText label={words.to} value={typed('to')} onApply={(value) => set('to', value)} />
      <FilterText label={words.reference} value={typed('reference')} onApply={(value) => set('reference', value)} />
      <FilterText
        appliesOnBlur
        label={words.createdAfter}
        value={typed('created_after')}
        onApply={(value) => set('created_after', parseLocalTime(value, zone))}
      />
      <FilterText
        appliesOnBlur
        label={words.createdBefore}
        value={typed('created_before')}
        onApply={(value) => set('created_before', parseLocalTime(value, zone))}
      />
    </search>
  )
}

function useColumns(): Column<Message>[] {
  const workspace = useWorkspace()
  const time = useTimeFormat()
  const { columns, directions } = text.messages
  return [
    {
      id: 'id',
      header: columns.id,
      cell: ({ id }) => <PathLink to={pathTo(workspace, 'messages', id)}>{id}</PathLink>,
    },
    {
      id: 'who',
      header: columns.who,
      cell: ({ direction, to, from }) => <bdi>{direction === 'inbound' ? from : to}</bdi>,
    },
    { id: 'status', header: columns.status, cell: ({ status }) => <Status status={status} /> },
    { id: 'channel', header: columns.channel, cell: ({ channel_type }) => humanize(channel_type) },
    {
      id: 'direction',
      header: columns.direction,
      cell: ({ direction }) => directions[direction as keyof typeof directions] ?? direction,
    },
    { id: 'type', header: columns.type, cell: ({ type }) => humanize(type) },
    { id: 'reference', header: columns.reference, cell: ({ reference }) => <bdi>{reference}</bdi> },
    { id: 'created', header: columns.created, cell: ({ created_at }) => time(created_at) },
  ]
}
