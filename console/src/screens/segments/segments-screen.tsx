/** Segments: what there is, and taking one away. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { answered, v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { useBecause } from '../../api/may.ts'
import { useAction } from '../../api/use-action.ts'
import { listQuery, useRead } from '../../api/use-read.ts'
import { useStale } from '../../api/use-stale.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { ApiButton } from '../../parts/api-button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Done } from '../../parts/done.tsx'
import { ListTable, type Column } from '../../parts/list-table.tsx'
import { PathLink } from '../../parts/path-link.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { Screen } from '../../parts/screen.tsx'
import { useTime } from '../../parts/times.ts'
import { useFilters } from '../../parts/use-filters.ts'
import { usePlace } from '../../parts/use-place.ts'
import { pathTo } from '../../paths.ts'
import { text } from '../../text/en.ts'

type Segment = components['schemas']['Segment']

export function SegmentsScreen() {
  const place = usePlace()
  const navigate = useNavigate()
  const because = useBecause(place)('contacts:write')
  const { query, clear } = useFilters([])
  const [leaving, setLeaving] = useState<Segment>()
  const [done, setDone] = useState('')
  const segments = useRead(place, ['segments.list', query], () =>
    v1(place).GET('/v1/segments', { params: { query: listQuery(query) } }),
  )
  const columns = useColumns(because, setLeaving)
  const words = text.segments
  return (
    <Screen
      title={text.screens.segments}
      mode={place.mode}
      actions={
        <>
          <ApiButton request={{ operation: 'segments.list', method: 'GET', path: '/v1/segments?limit=50' }} />
          <ActionButton
            label={words.create}
            because={because}
            onPress={() => void navigate({ to: pathTo(place, 'segments', 'new') as never })}
          />
        </>
      }
    >
      <Done text={done} />
      <ListTable
        name={text.screens.segments}
        columns={columns}
        query={segments}
        isFiltered={false}
        onClearFilters={clear}
        empty={words.empty}
      />
      {leaving !== undefined && (
        <DeleteSegment
          segment={leaving}
          onClose={() => setLeaving(undefined)}
          onDeleted={() => {
            setLeaving(undefined)
            setDone(words.deleted(leaving.name))
          }}
        />
      )}
    </Screen>
  )
}

function useColumns(because: string | undefined, onDelete: (segment: Segment) => void): Column<Segment>[] {
  const place = usePlace()
  const time = useTime()
  const words = text.segments
  return [
    {
      id: 'name',
      header: words.name,
      cell: ({ id, name }) => (
        <PathLink to={pathTo(place, 'segments', id)}>
          <bdi>{name}</bdi>
        </PathLink>
      ),
    },
    { id: 'description', header: words.description, cell: ({ description }) => <bdi>{description}</bdi> },
    { id: 'updated_at', header: words.updatedAt, cell: ({ updated_at }) => time(updated_at) },
    {
      id: 'delete',
      header: '',
      cell: (segment) => (
        <ActionButton
          label={words.remove}
          named={words.delete(segment.name)}
          because={because}
          variant="subtle"
          color="red"
          size="xs"
          onPress={() => onDelete(segment)}
        />
      ),
    },
  ]
}

function DeleteSegment({
  segment,
  onClose,
  onDeleted,
}: {
  segment: Segment
  onClose: () => void
  onDeleted: () => void
}) {
  const place = usePlace()
  const stale = useStale(place)
  const words = text.segments
  const remove = useAction(
    (id: string) => answered(v1(place).DELETE('/v1/segments/{id}', { params: { path: { id } } })),
    async () => {
      await stale('segments.')
      onDeleted()
    },
  )
  return (
    <Dialog title={words.delete(segment.name)} isOpen onClose={onClose}>
      <Stack>
        <Text>{words.confirm}</Text>
        {remove.problem !== undefined && <ProblemAlert problem={remove.problem} />}
        <Group justify="flex-end">
          <Button color="red.9" loading={remove.isRunning} onClick={() => remove.run(segment.id)}>
            {words.remove}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
