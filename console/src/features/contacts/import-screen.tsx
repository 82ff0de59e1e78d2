/** Imports contacts from a CSV file, in steps. */
import { Anchor, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useLocation, useNavigate } from '@tanstack/react-router'
import { useEffect, useMemo } from 'react'
import { unwrap, own, problemIn, problemOf, v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { refetchMs, useApiQuery } from '../../api/use-api-query.ts'
import { pathTo, type Query, useWorkspace } from '../../app/paths.ts'
import { SuccessNotice, ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ApiButton } from '../../components/feedback/api-button.tsx'
import { Screen, LoadingIndicator } from '../../components/feedback/screen.tsx'
import { Status } from '../../components/format/facts.tsx'
import { formatNumber, useTimeFormat } from '../../components/format/intl.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { type Column, RowsTable } from '../../components/table/list-table.tsx'
import { text } from '../../text/en.ts'
import { isDraft, isOnItsWay, isOpen, type StepwiseImport } from './import-draft.ts'
import { DraftForm, FileField } from './import-form.tsx'

type ContactImport = components['schemas']['ContactImport']

const shownMax = 10
const whileOnItsWayMs = 1_000

export function ImportScreen() {
  const workspace = useWorkspace()
  const navigate = useNavigate()
  const { import: id } = useLocation().search as Query
  const words = text.contactImports
  const all = useApiQuery(workspace, ['contact_imports.list'], () =>
    v1(workspace).GET('/v1/contact_imports', { params: { query: { limit: shownMax } } }),
  )
  const columns = useColumns()
  const rows = all.data?.data ?? []
  return (
    <Screen
      title={words.title}
      mode={workspace.mode}
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

function Import({ id, onUploaded }: { id: string | undefined; onUploaded: (id: string) => void }) {
  const workspace = useWorkspace()
  const read = useQuery({
    queryKey: [workspace.account, workspace.mode, 'imports.retrieve', id],
    queryFn: () => unwrap(own(workspace).GET('/console/api/imports/{id}', { params: { path: { id: id! } } })),
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
      {isWaiting && <LoadingIndicator />}
      {read.isError && read.data === undefined && (
        <ProblemAlert problem={problemOf(read.error)} onRetry={() => void read.refetch()} />
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
  const workspace = useWorkspace()
  const time = useTimeFormat()
  const { importColumns: columns, nameless } = text.contactImports
  return [
    {
      id: 'file',
      header: columns.file,
      cell: ({ id, file_name }) => (
        <PathLink to={pathTo(workspace, 'contacts', 'import')} search={{ import: id }}>
          <bdi>{file_name ?? nameless}</bdi>
        </PathLink>
      ),
    },
    { id: 'status', header: columns.status, cell: ({ status }) => <Status status={status} /> },
    { id: 'total', header: columns.total, cell: ({ total }) => formatNumber(total) },
    { id: 'created', header: columns.created, cell: ({ created }) => formatNumber(created) },
    { id: 'updated', header: columns.updated, cell: ({ updated }) => formatNumber(updated) },
    { id: 'rejected', header: columns.rejected, cell: ({ rejected }) => formatNumber(rejected) },
    { id: 'at', header: columns.at, cell: ({ created_at }) => time(created_at) },
  ]
}

function ImportProgress({ started }: { started: StepwiseImport }) {
  const workspace = useWorkspace()
  const words = text.contactImports
  const { id, status, total, processed, created, updated, rejected, warnings, error } = started
  const done = status === 'completed' ? 100 : total === 0 ? 0 : Math.round((processed / total) * 100)
  const [totals, ...others] = [total, created, updated, rejected].map(formatNumber) as [string, string, string, string]
  return (
    <Stack gap="sm">
      <Group gap="sm">
        <Status status={status} />
      </Group>
      <progress className="progress" aria-label={words.progress} max={100} value={done} />
      <SuccessNotice
        text={`${words.counts(totals, ...others)}${warnings > 0 ? ` ${words.warnings(formatNumber(warnings))}` : ''}`}
      />
      {error !== null && <ProblemAlert problem={problemIn(0, { error })} />}
      <Group>
        {!isOnItsWay(started) && (rejected > 0 || warnings > 0) && <RejectedRows id={id} />}
        <PathLink to={pathTo(workspace, 'contacts', 'import')}>{words.another}</PathLink>
      </Group>
    </Stack>
  )
}

/** A link cannot send the account header. */
function RejectedRows({ id }: { id: string }) {
  const workspace = useWorkspace()
  const rows = useApiQuery(workspace, ['contact_imports.list_errors', id], () =>
    v1(workspace).GET('/v1/contact_imports/{id}/errors', { params: { path: { id } }, parseAs: 'text' }),
  )
  const url = useMemo(
    () => (rows.data === undefined ? undefined : URL.createObjectURL(new Blob([rows.data], { type: 'text/csv' }))),
    [rows.data],
  )
  useEffect(() => () => void (url !== undefined && URL.revokeObjectURL(url)), [url])
  if (url === undefined) return null
  return (
    <Anchor href={url} download={`${id}-rejected.csv`} underline="always">
      {text.contactImports.rejectedRows}
    </Anchor>
  )
}
