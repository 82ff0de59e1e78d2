/** The list of contacts, with search and CSV export. */
import { Badge, Group } from '@mantine/core'
import { useLocation, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { unwrap, v1 } from '../../api/client.ts'
import { useDisabledReason } from '../../api/session.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { listQuery, useApiQuery } from '../../api/use-api-query.ts'
import { pathTo, type Query, queryText, useWorkspace } from '../../app/paths.ts'
import { SuccessNotice, ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ApiButton } from '../../components/feedback/api-button.tsx'
import { Screen } from '../../components/feedback/screen.tsx'
import { ActionButton } from '../../components/form/action-button.tsx'
import { ChoiceField } from '../../components/form/fields.tsx'
import { downloadFile } from '../../components/format/csv.ts'
import { useTimeFormat } from '../../components/format/intl.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { type Filters, FilterText, useFilters } from '../../components/table/filters.tsx'
import { type Column, ListTable } from '../../components/table/list-table.tsx'
import { text } from '../../text/en.ts'
import { ContactDialog } from './contact-dialog.tsx'
import { type Contact, nameOf } from './contact-screen.tsx'

const filterNames = [
  'query',
  'tag',
  'list',
  'segment',
  'consent',
  'phone',
  'email',
  'external_id',
  'created_after',
  'created_before',
  'updated_after',
]

export function ContactsScreen() {
  const workspace = useWorkspace()
  const filters = useFilters(filterNames)
  const [isNew, setNew] = useState(false)
  const [done, setDone] = useState(useLocation().state.done ?? '')
  const contacts = useApiQuery(workspace, ['contacts.list', filters.query], () =>
    v1(workspace).GET('/v1/contacts', { params: { query: listQuery(filters.query) } }),
  )
  const exporting = useExport(filters.query, () => setDone(text.contacts.exported))
  const columns = useColumns()
  const words = text.contacts
  return (
    <Screen
      title={text.screens.contacts}
      mode={workspace.mode}
      actions={<ContactsActions query={filters.query} exporting={exporting} onCreate={() => setNew(true)} />}
    >
      <SuccessNotice text={done} />
      {exporting.problem !== undefined && <ProblemAlert problem={exporting.problem} />}
      <ContactFilters filters={filters} />
      <ListTable
        name={text.screens.contacts}
        columns={columns}
        query={contacts}
        isFiltered={filters.isFiltered}
        onClearFilters={filters.clear}
        empty={words.empty}
      />
      {isNew && (
        <ContactDialog
          onClose={() => setNew(false)}
          onSaved={(contact) => {
            setNew(false)
            setDone(words.saved(nameOf(contact)))
          }}
        />
      )}
    </Screen>
  )
}

interface ContactsActionsProps {
  readonly query: Query
  readonly exporting: ReturnType<typeof useExport>
  readonly onCreate: () => void
}

function ContactsActions({ query, exporting, onCreate }: ContactsActionsProps) {
  const workspace = useWorkspace()
  const navigate = useNavigate()
  const disabledReason = useDisabledReason(workspace)
  const words = text.contacts
  return (
    <>
      <ApiButton
        request={{
          operation: 'contacts.list',
          method: 'GET',
          path: `/v1/contacts${queryText({ limit: '50', ...query })}`,
        }}
      />
      <ActionButton
        label={words.importThem}
        variant="default"
        disabledReason={disabledReason('import')}
        onPress={() => void navigate({ to: pathTo(workspace, 'contacts', 'import') as never })}
      />
      <ActionButton
        label={words.exportAll}
        variant="default"
        disabledReason={disabledReason('export')}
        loading={exporting.isRunning}
        onPress={() => exporting.run(undefined)}
      />
      <ActionButton label={words.create} disabledReason={disabledReason('contacts:write')} onPress={onCreate} />
    </>
  )
}

function useExport({ starting_after: _page, ...filters }: Query, onDone: () => void) {
  const workspace = useWorkspace()
  return useApiMutation(
    () => unwrap(v1(workspace).GET('/v1/contacts/export', { params: { query: filters as never }, parseAs: 'text' })),
    (csv) => {
      downloadFile('contacts.csv', csv)
      onDone()
    },
  )
}

function ContactFilters({ filters: { query, set } }: { filters: Filters }) {
  const workspace = useWorkspace()
  const words = text.contacts
  const all = { params: { query: { limit: 100 } } }
  const lists = useApiQuery(workspace, ['contact_lists.list', 'choices'], () =>
    v1(workspace).GET('/v1/contact_lists', all),
  )
  const segments = useApiQuery(workspace, ['segments.list', 'choices'], () => v1(workspace).GET('/v1/segments', all))
  const choicesOf = (rows: readonly { id: string; name: string }[] | undefined) =>
    (rows ?? []).map(({ id, name }) => ({ value: id, label: name }))
  const choice = (name: string) => ({ value: query[name] ?? '', onChange: (value: string) => set(name, value) })
  return (
    <search aria-label={text.list.filters} className="filters">
      <FilterText
        type="search"
        label={words.search}
        value={query['query'] ?? ''}
        onApply={(value) => set('query', value)}
      />
      <FilterText label={words.tag} value={query['tag'] ?? ''} onApply={(value) => set('tag', value)} />
      <ChoiceField label={words.list} any={words.anyList} choices={choicesOf(lists.data?.data)} {...choice('list')} />
      <ChoiceField
        label={words.segment}
        any={words.anySegment}
        choices={choicesOf(segments.data?.data)}
        {...choice('segment')}
      />
    </search>
  )
}

function useColumns(): Column<Contact>[] {
  const workspace = useWorkspace()
  const time = useTimeFormat()
  const { columns } = text.contacts
  return [
    {
      id: 'name',
      header: columns.name,
      cell: (contact) => (
        <PathLink to={pathTo(workspace, 'contacts', contact.id)}>
          <bdi>{nameOf(contact)}</bdi>
        </PathLink>
      ),
    },
    { id: 'phone', header: columns.phone, cell: ({ phone }) => phone },
    { id: 'email', header: columns.email, cell: ({ email }) => <bdi>{email}</bdi> },
    { id: 'tags', header: columns.tags, cell: ({ tags }) => <TagList tags={tags} /> },
    { id: 'lastMessage', header: columns.lastMessage, cell: ({ last_message_at }) => time(last_message_at) },
    { id: 'created', header: columns.created, cell: ({ created_at }) => time(created_at) },
  ]
}

const TagList = ({ tags }: { tags: readonly string[] }) => (
  <Group gap={4}>
    {tags.map((tag) => (
      <Badge key={tag} variant="outline" color="gray" c="inherit" tt="none" fw={500} miw="max-content">
        <bdi>{tag}</bdi>
      </Badge>
    ))}
  </Group>
)
