/** Every change of a contact's consent: the proof. */
import { Title } from '@mantine/core'
import { v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { problemOf } from '../../api/problem.ts'
import { useRead } from '../../api/use-read.ts'
import { RowsTable, type Column } from '../../parts/list-table.tsx'
import { PathLink } from '../../parts/path-link.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { Status } from '../../parts/status.tsx'
import { useTime } from '../../parts/times.ts'
import { usePlace } from '../../parts/use-place.ts'
import { pathTo } from '../../paths.ts'
import { inWords, text } from '../../text/en.ts'

type Change = components['schemas']['ConsentChange']

const rowsMax = 100

export function ConsentHistory({ id }: { id: string }) {
  const place = usePlace()
  const changes = useRead(place, ['contacts.list_consent_history', id], () =>
    v1(place).GET('/v1/contacts/{id}/consent_history', { params: { path: { id }, query: { limit: rowsMax } } }),
  )
  const columns = useColumns()
  return (
    <section>
      <Title order={2} size="h4">
        {text.contacts.history}
      </Title>
      {changes.isError && <ProblemAlert problem={problemOf(changes.error)} onAgain={() => void changes.refetch()} />}
      <RowsTable name={text.contacts.history} columns={columns} rows={changes.data?.data ?? []} />
    </section>
  )
}

function useColumns(): Column<Change>[] {
  const place = usePlace()
  const time = useTime()
  const { historyColumns: columns, consentChannel } = text.contacts
  return [
    { id: 'at', header: columns.at, cell: ({ occurred_at }) => time(occurred_at) },
    {
      id: 'channel',
      header: columns.channel,
      cell: ({ channel_type }) =>
        consentChannel(inWords(channel_type.split('.')[0]!), channel_type.endsWith('.marketing')),
    },
    { id: 'status', header: columns.status, cell: ({ status }) => <Status status={status} /> },
    { id: 'source', header: columns.source, cell: ({ source }) => inWords(source) },
    {
      id: 'message',
      header: columns.message,
      cell: ({ message_id }) =>
        message_id === null ? null : <PathLink to={pathTo(place, 'messages', message_id)}>{message_id}</PathLink>,
    },
  ]
}
