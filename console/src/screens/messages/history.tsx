/** What has happened to a message: its statuses in order, and each time that it was handed over. */
import { List, Text, Title } from '@mantine/core'
import { v1 } from '../../api/client.ts'
import type { operations } from '../../api/generated/v1.ts'
import { problemOf } from '../../api/problem.ts'
import { useRead } from '../../api/use-read.ts'
import { numberOf } from '../../parts/amounts.ts'
import { RowsTable, type Column } from '../../parts/list-table.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { Waiting } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { useTime } from '../../parts/times.ts'
import { usePlace } from '../../parts/use-place.ts'
import { inWords, text } from '../../text/en.ts'

const rowsMax = 100

export function Timeline({ id }: { id: string }) {
  const place = usePlace()
  const time = useTime()
  const events = useRead(place, ['messages.list_events', id], () =>
    v1(place).GET('/v1/messages/{id}/events', { params: { path: { id }, query: { limit: rowsMax } } }),
  )
  if (events.isPending) return <Waiting />
  if (events.data === undefined)
    return <ProblemAlert problem={problemOf(events.error)} onAgain={() => void events.refetch()} />
  return (
    <List type="ordered" className="timeline" withPadding={false}>
      {events.data.data.toReversed().map(({ id: event, status, error, created_at }) => (
        <List.Item key={event}>
          <Text span fw={600}>
            {inWords(status)}
          </Text>{' '}
          <Text span size="sm" c="dimmed">
            {time(created_at)}
          </Text>
          {error !== null && (
            <Text size="sm" dir="auto">
              {error.message}
            </Text>
          )}
        </List.Item>
      ))}
    </List>
  )
}

type Attempt = operations['messages.list_attempts']['responses'][200]['content']['application/json']['data'][number]

export function Attempts({ id }: { id: string }) {
  const place = usePlace()
  const attempts = useRead(place, ['messages.list_attempts', id], () =>
    v1(place).GET('/v1/messages/{id}/attempts', { params: { path: { id }, query: { limit: rowsMax } } }),
  )
  const columns = useAttemptColumns()
  return (
    <section>
      <Title order={2} size="h4">
        {text.messages.attempts}
      </Title>
      {attempts.isError && <ProblemAlert problem={problemOf(attempts.error)} onAgain={() => void attempts.refetch()} />}
      <RowsTable name={text.messages.attempts} columns={columns} rows={attempts.data?.data ?? []} />
    </section>
  )
}

function useAttemptColumns(): Column<Attempt>[] {
  const time = useTime()
  const { attemptColumns: columns, milliseconds, said } = text.messages
  return [
    { id: 'number', header: columns.number, cell: ({ number }) => number },
    { id: 'at', header: columns.at, cell: ({ created_at }) => time(created_at) },
    { id: 'provider', header: columns.provider, cell: ({ provider }) => inWords(provider) },
    { id: 'outcome', header: columns.outcome, cell: ({ outcome }) => <Status status={outcome} /> },
    {
      id: 'said',
      header: columns.said,
      cell: ({ provider_code, provider_message }) => <bdi>{said(provider_code, provider_message)}</bdi>,
    },
    { id: 'took', header: columns.took, cell: ({ duration_ms }) => milliseconds(numberOf(duration_ms)) },
  ]
}
