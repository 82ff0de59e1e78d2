/** The latest runs: of one automation, or of all. */
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
import { pathTo, type Place } from '../../paths.ts'
import { inWords, text } from '../../text/en.ts'

const words = text.automations.runs
const rowsMax = 50

type Run = components['schemas']['AutomationRun']

export function RunsTable({ place, automation }: { place: Place; automation?: string }) {
  const query = { limit: rowsMax, ...(automation === undefined ? {} : { automation }) }
  const runs = useRead(place, ['automation_runs.list', query], () =>
    v1(place).GET('/v1/automation_runs', { params: { query } }),
  )
  const columns = useColumns(place)
  return (
    <section className="after" aria-busy={runs.isPending}>
      <Title order={2} size="h4" mb="xs">
        {words.title}
      </Title>
      {runs.isError && <ProblemAlert problem={problemOf(runs.error)} onAgain={() => void runs.refetch()} />}
      <RowsTable name={words.title} columns={columns} rows={runs.data?.data ?? []} />
    </section>
  )
}

function useColumns(place: Place): Column<Run>[] {
  const time = useTime()
  return [
    { id: 'id', header: words.id, cell: ({ id }) => id },
    { id: 'status', header: words.status, cell: ({ status }) => <Status status={status} /> },
    { id: 'reason', header: words.reason, cell: ({ reason }) => (reason === null ? '' : inWords(reason)) },
    { id: 'scheduled', header: words.scheduled, cell: ({ scheduled_for }) => time(scheduled_for) },
    {
      id: 'message',
      header: words.message,
      cell: ({ id, message_id }) =>
        message_id !== null && (
          <PathLink to={pathTo(place, 'messages', message_id)} aria-label={words.openNamed(id)}>
            {words.open}
          </PathLink>
        ),
    },
  ]
}
