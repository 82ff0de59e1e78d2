/** The person's sessions. */
import { Button, Group, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { unwrap, own, problemOf } from '../../api/client.ts'
import type { components } from '../../api/generated/own.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { SuccessNotice, ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ActionButton } from '../../components/form/action-button.tsx'
import { useTimeFormat } from '../../components/format/intl.tsx'
import { type Column, RowsTable } from '../../components/table/list-table.tsx'
import { text } from '../../text/en.ts'

type Summary = components['schemas']['SessionSummary']

const key = ['sessions.list']

export function Sessions() {
  const queries = useQueryClient()
  const [said, setSaid] = useState('')
  const sessions = useQuery({ queryKey: key, queryFn: () => unwrap(own().GET('/console/api/sessions')) })
  const again = (count: number) => {
    setSaid(text.profile.ended(count))
    return queries.invalidateQueries({ queryKey: key })
  }
  const endOthers = useApiMutation(
    () => unwrap(own().DELETE('/console/api/sessions')),
    ({ count }) => again(count),
  )
  const end = useApiMutation(
    (id: string) => unwrap(own().DELETE('/console/api/sessions/{id}', { params: { path: { id } } })),
    () => again(1),
  )
  const columns = useColumns(end.run)
  const problem = end.problem ?? endOthers.problem ?? (sessions.isError ? problemOf(sessions.error) : undefined)
  const words = text.profile
  return (
    <div>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h4">
          {words.sessions}
        </Title>
        <Button variant="default" loading={endOthers.isRunning} onClick={() => endOthers.run(undefined)}>
          {words.endOthers}
        </Button>
      </Group>
      <SuccessNotice text={said} />
      {problem !== undefined && <ProblemAlert problem={problem} />}
      <RowsTable name={words.sessions} rows={sessions.data?.data ?? []} columns={columns} />
    </div>
  )
}

function useColumns(onEnd: (id: string) => void): Column<Summary>[] {
  const time = useTimeFormat()
  const words = text.profile
  return [
    { id: 'where', header: words.columns.where, cell: ({ user_agent }) => <bdi>{user_agent ?? words.unknown}</bdi> },
    { id: 'address', header: words.columns.address, cell: ({ address }) => address },
    {
      id: 'seen',
      header: words.columns.seen,
      cell: ({ seen_at, current }) => (current ? words.thisOne : time(seen_at)),
    },
    { id: 'begun', header: words.columns.begun, cell: ({ created_at }) => time(created_at) },
    {
      id: 'end',
      header: '',
      cell: ({ id, current, user_agent, address }) =>
        current ? null : (
          <ActionButton
            label={words.end}
            named={words.endNamed(user_agent ?? address)}
            variant="subtle"
            size="xs"
            onPress={() => onEnd(id)}
          />
        ),
    },
  ]
}
