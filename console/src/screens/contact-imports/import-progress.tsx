/** How far an import is, what it has done, and the rows that it rejected. */
import { Anchor, Group, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { answered, v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { problemIn, problemOf } from '../../api/problem.ts'
import { useRead } from '../../api/use-read.ts'
import { numberOf } from '../../parts/amounts.ts'
import { Done } from '../../parts/done.tsx'
import { PathLink } from '../../parts/path-link.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { Waiting } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { usePlace } from '../../parts/use-place.ts'
import { pathTo } from '../../paths.ts'
import { text } from '../../text/en.ts'

type ContactImport = components['schemas']['ContactImport']

/** While it runs. */
const askedEveryMs = 1_000
const isOver = ({ status }: ContactImport): boolean => status === 'completed' || status === 'failed'

export function ImportProgress({ id }: { id: string }) {
  const place = usePlace()
  const read = useQuery({
    queryKey: [place.account, place.mode, 'contact_imports.retrieve', id],
    queryFn: () => answered(v1(place).GET('/v1/contact_imports/{id}', { params: { path: { id } } })),
    refetchInterval: ({ state }) => (state.data !== undefined && isOver(state.data) ? false : askedEveryMs),
  })
  const words = text.contactImports
  if (read.isPending) return <Waiting />
  if (read.data === undefined) return <ProblemAlert problem={problemOf(read.error)} onAgain={() => void read.refetch()} />
  const { status, total, processed, created, updated, rejected, warnings, error } = read.data
  const done = status === 'completed' ? 100 : total === 0 ? 0 : Math.round((processed / total) * 100)
  const [totals, ...others] = [total, created, updated, rejected].map(numberOf) as [string, string, string, string]
  return (
    <Stack maw="44rem" gap="sm">
      <Group gap="sm">
        <Status status={status} />
      </Group>
      <progress className="progress" aria-label={words.progress} max={100} value={done} />
      <Done text={`${words.counts(totals, ...others)}${warnings > 0 ? ` ${words.warnings(numberOf(warnings))}` : ''}`} />
      {error !== null && <ProblemAlert problem={problemIn(0, { error })} />}
      <Group>
        {isOver(read.data) && (rejected > 0 || warnings > 0) && <RejectedRows id={id} />}
        <PathLink to={pathTo(place, 'contacts', 'import')}>{words.another}</PathLink>
      </Group>
    </Stack>
  )
}

/** A link to the rows as a file: it is read here, for the request says which account it is for. */
function RejectedRows({ id }: { id: string }) {
  const place = usePlace()
  const rows = useRead(place, ['contact_imports.list_errors', id], () =>
    v1(place).GET('/v1/contact_imports/{id}/errors', { params: { path: { id } }, parseAs: 'text' }),
  )
  const url = useMemo(() => (rows.data === undefined ? undefined : URL.createObjectURL(new Blob([rows.data], { type: 'text/csv' }))), [rows.data])
  useEffect(() => () => void (url !== undefined && URL.revokeObjectURL(url)), [url])
  if (url === undefined) return null
  return (
    <Anchor href={url} download={`${id}-rejected.csv`} underline="always">
      {text.contactImports.rejectedRows}
    </Anchor>
  )
}
