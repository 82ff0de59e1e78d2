/** The list of segments. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { unwrap, v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { useDisabledReason } from '../../api/session.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { listQuery, useApiQuery, useInvalidate } from '../../api/use-api-query.ts'
import { pathTo, useWorkspace } from '../../app/paths.ts'
import { SuccessNotice, ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ApiButton } from '../../components/feedback/api-button.tsx'
import { Dialog } from '../../components/feedback/dialog.tsx'
import { Screen } from '../../components/feedback/screen.tsx'
import { ActionButton } from '../../components/form/action-button.tsx'
import { useTimeFormat } from '../../components/format/intl.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { useFilters } from '../../components/table/filters.tsx'
import { type Column, ListTable } from '../../components/table/list-table.tsx'
import { text } from '../../text/en.ts'

type Segment = components['schemas']['Segment']

export function SegmentsScreen() {
  const workspace = useWorkspace()
  const navigate = useNavigate()
  const disabledReason = useDisabledReason(workspace)('contacts:write')
  const { query, clear } = useFilters([])
  const [toDelete, setToDelete] = useState<Segment>()
  const [done, setDone] = useState('')
  const segments = useApiQuery(workspace, ['segments.list', query], () =>
    v1(workspace).GET('/v1/segments', { params: { query: listQuery(query) } }),
  )
  const columns = useColumns(disabledReason, setToDelete)
  const words = text.segments
  return (
    <Screen
      title={text.screens.segments}
      mode={workspace.mode}
      actions={
        <>
          <ApiButton request={{ operation: 'segments.list', method: 'GET', path: '/v1/segments?limit=50' }} />
          <ActionButton
            label={words.create}
            disabledReason={disabledReason}
            onPress={() => void navigate({ to: pathTo(workspace, 'segments', 'new') as never })}
          />
        </>
      }
    >
      <SuccessNotice text={done} />
      <ListTable
        name={text.screens.segments}
        columns={columns}
        query={segments}
        isFiltered={false}
        onClearFilters={clear}
        empty={words.empty}
      />
      {toDelete !== undefined && (
        <DeleteSegment
          segment={toDelete}
          onClose={() => setToDelete(undefined)}
          onDeleted={() => {
            setToDelete(undefined)
            setDone(words.deleted(toDelete.name))
          }}
        />
      )}
    </Screen>
  )
}

function useColumns(disabledReason: string | undefined, onDelete: (segment: Segment) => void): Column<Segment>[] {
  const workspace = useWorkspace()
  const time = useTimeFormat()
  const words = text.segments
  return [
    {
      id: 'name',
      header: words.name,
      cell: ({ id, name }) => (
        <PathLink to={pathTo(workspace, 'segments', id)}>
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
          disabledReason={disabledReason}
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
  const workspace = useWorkspace()
  const invalidate = useInvalidate(workspace)
  const words = text.segments
  const remove = useApiMutation(
    (id: string) => unwrap(v1(workspace).DELETE('/v1/segments/{id}', { params: { path: { id } } })),
    async () => {
      await invalidate('segments.')
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
