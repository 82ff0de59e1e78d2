/** How far an import is, what it has done, and the rows that it rejected. */
import { Anchor, Group, Stack } from '@mantine/core'
import { useEffect, useMemo } from 'react'
import { v1 } from '../../api/client.ts'
import { problemIn } from '../../api/problem.ts'
import { useRead } from '../../api/use-read.ts'
import { numberOf } from '../../parts/amounts.ts'
import { Done } from '../../parts/done.tsx'
import { PathLink } from '../../parts/path-link.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { Status } from '../../parts/status.tsx'
import { usePlace } from '../../parts/use-place.ts'
import { pathTo } from '../../paths.ts'
import { text } from '../../text/en.ts'
import { isOnItsWay, type StepwiseImport } from './draft.ts'

export function ImportProgress({ started }: { started: StepwiseImport }) {
  const place = usePlace()
  const words = text.contactImports
  const { id, status, total, processed, created, updated, rejected, warnings, error } = started
  const done = status === 'completed' ? 100 : total === 0 ? 0 : Math.round((processed / total) * 100)
  const [totals, ...others] = [total, created, updated, rejected].map(numberOf) as [string, string, string, string]
  return (
    <Stack gap="sm">
      <Group gap="sm">
        <Status status={status} />
      </Group>
      <progress className="progress" aria-label={words.progress} max={100} value={done} />
      <Done
        text={`${words.counts(totals, ...others)}${warnings > 0 ? ` ${words.warnings(numberOf(warnings))}` : ''}`}
      />
      {error !== null && <ProblemAlert problem={problemIn(0, { error })} />}
      <Group>
        {!isOnItsWay(started) && (rejected > 0 || warnings > 0) && <RejectedRows id={id} />}
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
