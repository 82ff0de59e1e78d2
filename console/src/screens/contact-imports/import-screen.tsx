/** Imports contacts from a CSV file: what its columns are, that everybody has agreed, then how far it is and what was rejected. */
import { Stack, Title } from '@mantine/core'
import { useLocation, useNavigate } from '@tanstack/react-router'
import { v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { useRead } from '../../api/use-read.ts'
import { numberOf } from '../../parts/amounts.ts'
import { ApiButton } from '../../parts/api-button.tsx'
import { RowsTable, type Column } from '../../parts/list-table.tsx'
import { PathLink } from '../../parts/path-link.tsx'
import { Screen } from '../../parts/screen.tsx'
import { Status } from '../../parts/status.tsx'
import { useTime } from '../../parts/times.ts'
import { usePlace } from '../../parts/use-place.ts'
import { pathTo } from '../../paths.ts'
import type { Query } from '../../query.ts'
import { text } from '../../text/en.ts'
import { ImportForm } from './import-form.tsx'
import { ImportProgress } from './import-progress.tsx'

type ContactImport = components['schemas']['ContactImport']

const shownMax = 10

export function ImportScreen() {
  const place = usePlace()
  const navigate = useNavigate()
  const { import: id } = useLocation().search as Query
  const words = text.contactImports
  const all = useRead(place, ['contact_imports.list'], () => v1(place).GET('/v1/contact_imports', { params: { query: { limit: shownMax } } }))
  const columns = useColumns()
  return (
    <Screen
      title={words.title}
      mode={place.mode}
      actions={<ApiButton request={{ operation: 'contact_imports.create', method: 'POST', path: '/v1/contact_imports?consent_declared=true' }} />}
    >
      <Stack gap="lg">
        {id === undefined ? (
          <ImportForm onStarted={(started) => void navigate({ to: '.', search: { import: started.id } as never })} />
        ) : (
          <ImportProgress key={id} id={id} />
        )}
        <section>
          <Title order={2} size="h4">
            {words.imports}
          </Title>
          <RowsTable name={words.imports} columns={columns} rows={all.data?.data ?? []} />
        </section>
      </Stack>
    </Screen>
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
