/** Contact lists: what there is, a new one, and taking one away. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { answered, v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { useBecause } from '../../api/may.ts'
import { useAction } from '../../api/use-action.ts'
import { listQuery, useRead } from '../../api/use-read.ts'
import { useStale } from '../../api/use-stale.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { numberOf } from '../../parts/amounts.ts'
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
import { NewList } from './new-list.tsx'

type ContactList = components['schemas']['ContactList']

export function ListsScreen() {
  const place = usePlace()
  const because = useBecause(place)('contacts:write')
  const { query, clear } = useFilters([])
  const [isNew, setNew] = useState(false)
  const [leaving, setLeaving] = useState<ContactList>()
  const [done, setDone] = useState('')
  const lists = useRead(place, ['contact_lists.list', query], () =>
    v1(place).GET('/v1/contact_lists', { params: { query: listQuery(query) } }),
  )
  const columns = useColumns(because, setLeaving)
  const words = text.contactLists
  const create = <ActionButton label={words.create} because={because} onPress={() => setNew(true)} />
  return (
    <Screen
      title={text.screens.lists}
      mode={place.mode}
      actions={
        <>
          <ApiButton request={{ operation: 'contact_lists.list', method: 'GET', path: '/v1/contact_lists?limit=50' }} />
          {create}
        </>
      }
    >
      <Done text={done} />
      <ListTable
        name={text.screens.lists}
        columns={columns}
        query={lists}
        isFiltered={false}
        onClearFilters={clear}
        empty={words.empty}
      />
      {isNew && (
        <NewList
          onClose={() => setNew(false)}
          onSaved={(list) => {
            setNew(false)
            setDone(words.saved(list.name))
          }}
        />
      )}
      {leaving !== undefined && (
        <DeleteList
          list={leaving}
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

function useColumns(because: string | undefined, onDelete: (list: ContactList) => void): Column<ContactList>[] {
  const place = usePlace()
  const time = useTime()
  const words = text.contactLists
  return [
    {
      id: 'name',
      header: words.name,
      cell: ({ id, name }) => (
        <PathLink to={pathTo(place, 'contacts')} search={{ list: id }}>
          <bdi>{name}</bdi>
        </PathLink>
      ),
    },
    { id: 'description', header: words.description, cell: ({ description }) => <bdi>{description}</bdi> },
    { id: 'contacts', header: words.contacts, cell: ({ contacts_count }) => numberOf(contacts_count) },
    { id: 'created_at', header: words.createdAt, cell: ({ created_at }) => time(created_at) },
    {
      id: 'delete',
      header: '',
      cell: (list) => (
        <ActionButton
          label={words.remove}
          named={words.delete(list.name)}
          because={because}
          variant="subtle"
          color="red"
          size="xs"
          onPress={() => onDelete(list)}
        />
      ),
    },
  ]
}

function DeleteList({ list, onClose, onDeleted }: { list: ContactList; onClose: () => void; onDeleted: () => void }) {
  const place = usePlace()
  const stale = useStale(place)
  const words = text.contactLists
  const remove = useAction(
    (id: string) => answered(v1(place).DELETE('/v1/contact_lists/{id}', { params: { path: { id } } })),
    async () => {
      await stale('contact_lists.')
      onDeleted()
    },
  )
  return (
    <Dialog title={words.delete(list.name)} isOpen onClose={onClose}>
      <Stack>
        <Text>{words.confirm}</Text>
        {remove.problem !== undefined && <ProblemAlert problem={remove.problem} />}
        <Group justify="flex-end">
          <Button color="red.9" loading={remove.isRunning} onClick={() => remove.run(list.id)}>
            {words.remove}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
