/** Imports contacts from a CSV file: what its columns are, that everybody has agreed, then how far it is and what was rejected. */
import { Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useLocation, useNavigate } from '@tanstack/react-router'
import { answered, own, v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { problemOf } from '../../api/problem.ts'
import { refetchMs } from '../../api/query-client.ts'
import { useRead } from '../../api/use-read.ts'
import { numberOf } from '../../parts/amounts.ts'
import { ApiButton } from '../../parts/api-button.tsx'
import { RowsTable, type Column } from '../../parts/list-table.tsx'
import { PathLink } from '../../parts/path-link.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { Screen } from '../../parts/screen.tsx'
import { Waiting } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { useTime } from '../../parts/times.ts'
import { usePlace } from '../../parts/use-place.ts'
import { pathTo } from '../../paths.ts'
import type { Query } from '../../query.ts'
import { text } from '../../text/en.ts'
import { DraftForm } from './draft-form.tsx'
import { isDraft, isOnItsWay, isOpen } from './draft.ts'
import { FileField } from './file-field.tsx'
import { ImportProgress } from './import-progress.tsx'

type ContactImport = components['schemas']['ContactImport']

const shownMax = 10
/** While it runs. */
const whileOnItsWayMs = 1_000

export function ImportScreen() {
  const place = usePlace()
  const navigate = useNavigate()
  const { import: id } = useLocation().search as Query
  const words = text.contactImports
  const all = useRead(place, ['contact_imports.list'], () =>
    v1(place).GET('/v1/contact_imports', { params: { query: { limit: shownMax } } }),
  )
  const columns = useColumns()
  const rows = all.data?.data ?? []
  return (
    <Screen
      title={words.title}
      mode={place.mode}
      actions={
        <ApiButton
          request={{
            operation: 'contact_imports.create',
            method: 'POST',
            path: '/v1/contact_imports?consent_declared=true',
          }}
        />
      }
    >
      <Stack gap="lg">
        <Import id={id} onUploaded={(draft) => void navigate({ to: '.', search: { import: draft } as never })} />
        {rows.length > 0 && (
          <section>
            <Title order={2} size="h4">
              {words.imports}
            </Title>
            <RowsTable name={words.imports} columns={columns} rows={rows} />
          </section>
        )}
      </Stack>
    </Screen>
  )
}

/** The import of the address at whatever step it is, and the field that begins one. */
function Import({ id, onUploaded }: { id: string | undefined; onUploaded: (id: string) => void }) {
  const place = usePlace()
  const read = useQuery({
    queryKey: [place.account, place.mode, 'imports.retrieve', id],
    queryFn: () => answered(own(place).GET('/console/api/imports/{id}', { params: { path: { id: id! } } })),
    enabled: id !== undefined,
    refetchInterval: ({ state: { data } }) => (data !== undefined && isOnItsWay(data) ? whileOnItsWayMs : refetchMs),
  })
  const words = text.contactImports
  const isWaiting = id !== undefined && read.isPending
  return (
    <Stack maw="44rem">
      {!isWaiting && (read.data === undefined || isDraft(read.data)) && (
        <FileField onUploaded={(draft) => onUploaded(draft.id)} />
      )}
      {isWaiting && <Waiting />}
      {read.isError && read.data === undefined && (
        <ProblemAlert problem={problemOf(read.error)} onAgain={() => void read.refetch()} />
      )}
      {read.data !== undefined && (
        <>
          <Title order={2} size="h4">
            <bdi>{read.data.file_name ?? words.nameless}</bdi>
          </Title>
          {read.data.status === 'cancelled' && <Text>{words.cancelled}</Text>}
          {isOpen(read.data) && <DraftForm key={id} draft={read.data} />}
          {!isDraft(read.data) && <ImportProgress started={read.data} />}
        </>
      )}
    </Stack>
  )
}

function useColumns(): Column<ContactImport>[] {
  const place = usePlace()
  const time = useTime()
  const { importColumns: columns, nameless } = text.contactImports
  return [
    {
      id: 'file',
      header: columns.file,
      cell: ({ id, file_name }) => (
        <PathLink to={pathTo(place, 'contacts', 'import')} search={{ import: id }}>
          <bdi>{file_name ?? nameless}</bdi>
        </PathLink>
      ),
    },
    { id: 'status', header: columns.status, cell: ({ status }) => <Status status={status} /> },
    { id: 'total', header: columns.total, cell: ({ total }) => numberOf(total) },
    { id: 'created', header: columns.created, cell: ({ created }) => numberOf(created) },
    { id: 'updated', header: columns.updated, cell: ({ updated }) => numberOf(updated) },
    { id: 'rejected', header: columns.rejected, cell: ({ rejected }) => numberOf(rejected) },
    { id: 'at', header: columns.at, cell: ({ created_at }) => time(created_at) },
  ]
}
