/** Segments: what there is, and taking one away. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { answered, v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { useBecause } from '../../api/session.ts'
import { useAction } from '../../api/use-action.ts'
import { listQuery, useRead, useStale } from '../../api/use-api-query.ts'
import { pathTo, usePlace } from '../../app/paths.ts'
import { Done, ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ApiButton } from '../../components/feedback/api-button.tsx'
import { Dialog } from '../../components/feedback/dialog.tsx'
import { Screen } from '../../components/feedback/screen.tsx'
import { ActionButton } from '../../components/form/action-button.tsx'
import { useTime } from '../../components/format/intl.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { useFilters } from '../../components/table/filters.tsx'
import { type Column, ListTable } from '../../components/table/list-table.tsx'
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
