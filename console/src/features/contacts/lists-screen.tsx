/** The list of contact lists. */
import { Button, Group, Stack, Text } from '@mantine/core'
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
import { LongTextField, TextField } from '../../components/form/fields.tsx'
import { useDraft } from '../../components/form/use-draft.ts'
import { formatNumber, useTimeFormat } from '../../components/format/intl.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { useFilters } from '../../components/table/filters.tsx'
import { type Column, ListTable } from '../../components/table/list-table.tsx'
import { text } from '../../text/en.ts'

type ContactList = components['schemas']['ContactList']

export function ListsScreen() {
  const workspace = useWorkspace()
  const disabledReason = useDisabledReason(workspace)('contacts:write')
  const { query, clear } = useFilters([])
  const [isNew, setNew] = useState(false)
  const [toDelete, setToDelete] = useState<ContactList>()
  const [done, setDone] = useState('')
  const lists = useApiQuery(workspace, ['contact_lists.list', query], () =>
    v1(workspace).GET('/v1/contact_lists', { params: { query: listQuery(query) } }),
  )
  const columns = useColumns(disabledReason, setToDelete)
  const words = text.contactLists
  const create = <ActionButton label={words.create} disabledReason={disabledReason} onPress={() => setNew(true)} />
  return (
    <Screen
      title={text.screens.lists}
      mode={workspace.mode}
      actions={
        <>
          <ApiButton request={{ operation: 'contact_lists.list', method: 'GET', path: '/v1/contact_lists?limit=50' }} />
          {create}
        </>
      }
    >
      <SuccessNotice text={done} />
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
      {toDelete !== undefined && (
        <DeleteList
          list={toDelete}
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

function useColumns(disabledReason: string | undefined, onDelete: (list: ContactList) => void): Column<ContactList>[] {
  const workspace = useWorkspace()
  const time = useTimeFormat()
  const words = text.contactLists
  return [
    {
      id: 'name',
      header: words.name,
      cell: ({ id, name }) => (
        <PathLink to={pathTo(workspace, 'contacts')} search={{ list: id }}>
          <bdi>{name}</bdi>
        </PathLink>
      ),
    },
    { id: 'description', header: words.description, cell: ({ description }) => <bdi>{description}</bdi> },
    { id: 'contacts', header: words.contacts, cell: ({ contacts_count }) => formatNumber(contacts_count) },
    { id: 'created_at', header: words.createdAt, cell: ({ created_at }) => time(created_at) },
    {
      id: 'delete',
      header: '',
      cell: (list) => (
        <ActionButton
          label={words.remove}
          named={words.delete(list.name)}
          disabledReason={disabledReason}
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
  const workspace = useWorkspace()
  const invalidate = useInvalidate(workspace)
  const words = text.contactLists
  const remove = useApiMutation(
    (id: string) => unwrap(v1(workspace).DELETE('/v1/contact_lists/{id}', { params: { path: { id } } })),
    async () => {
      await invalidate('contact_lists.')
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

function NewList({ onClose, onSaved }: { onClose: () => void; onSaved: (list: ContactList) => void }) {
  const workspace = useWorkspace()
  const invalidate = useInvalidate(workspace)
  const [draft, change, discard] = useDraft(workspace, 'list', { name: '', description: '' })
  const save = useApiMutation(
    (body: { name: string; description?: string }, key) =>
      unwrap(v1(workspace).POST('/v1/contact_lists', { body, headers: { 'Idempotency-Key': key } })),
    async (list) => {
      discard()
      await invalidate('contact_lists.')
      onSaved(list)
    },
  )
  const words = text.contactLists
  const isAtField = save.problem?.about('name') !== undefined || save.problem?.about('description') !== undefined
  return (
    <Dialog title={words.create} isOpen onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          save.run({ name: draft.name, ...(draft.description === '' ? {} : { description: draft.description }) })
        }}
      >
        <Stack>
          <TextField
            label={words.name}
            value={draft.name}
            onChange={(name) => change({ ...draft, name })}
            param="name"
            problem={save.problem}
            required
          />
          <LongTextField
            label={words.description}
            value={draft.description}
            onChange={(description) => change({ ...draft, description })}
            param="description"
            problem={save.problem}
          />
          {save.problem !== undefined && !isAtField && <ProblemAlert problem={save.problem} />}
          <Group justify="flex-end">
            <Button type="submit" loading={save.isRunning}>
              {words.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
