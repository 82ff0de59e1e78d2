/** Messages with a contact, and the history of its consent. */
import { List, Text, Title } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { unwrap, own, problemOf, v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { useApiQuery } from '../../api/use-api-query.ts'
import { pathTo, useWorkspace } from '../../app/paths.ts'
import { ProblemAlert } from '../../components/feedback/alerts.tsx'
import { LoadingIndicator } from '../../components/feedback/screen.tsx'
import { Status } from '../../components/format/facts.tsx'
import { useTimeFormat } from '../../components/format/intl.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { type Column, RowsTable } from '../../components/table/list-table.tsx'
import { humanize, text } from '../../text/en.ts'
import type { Contact } from './contact-screen.tsx'

type Message = components['schemas']['Message']

const rowsMax = 20
const conversationsMax = 10

export function ContactTimeline({ contact }: { contact: Contact }) {
  const workspace = useWorkspace()
  const time = useTimeFormat()
  const { messages, conversation, isPending, error, again } = useTimeline(contact)
  const words = text.contacts
  if (isPending) return <LoadingIndicator />
  if (error !== null) return <ProblemAlert problem={problemOf(error)} onRetry={again} />
  if (messages.length === 0) return <Text c="dimmed">{words.nothingYet}</Text>
  return (
    <>
      <List listStyleType="none" spacing="xs">
        {messages.map(({ id, status, type, channel_type, created_at }) => (
          <List.Item key={id}>
            <PathLink
              to={pathTo(workspace, 'messages', id)}
            >{`${humanize(channel_type)} · ${humanize(type)}`}</PathLink>{' '}
            <Status status={status} />{' '}
            <Text span size="sm" c="dimmed">
              {time(created_at)}
            </Text>
          </List.Item>
        ))}
      </List>
      {conversation !== undefined && (
        <Text mt="sm" size="sm">
          <PathLink to={pathTo(workspace, 'inbox')} search={{ conversation: conversation.id }}>
            {words.answer}
          </PathLink>
        </Text>
      )}
    </>
  )
}

function useTimeline({ id, phone, identifiers }: Contact) {
  const workspace = useWorkspace()
  const to = phone ?? Object.values(identifiers)[0]
  const sent = useApiQuery(
    workspace,
    ['messages.list', { to, limit: rowsMax }],
    () => v1(workspace).GET('/v1/messages', { params: { query: { to, limit: rowsMax } as never } }),
    to !== undefined,
  )
  const found = useApiQuery(workspace, ['conversations.list', { contact: id, limit: conversationsMax }], () =>
    own(workspace).GET('/console/api/conversations', { params: { query: { contact: id, limit: conversationsMax } } }),
  )
  const conversations = useQueries({
    queries: (found.data?.data ?? []).map((conversation) => ({
      queryKey: [workspace.account, workspace.mode, 'conversations.list_messages', conversation.id, rowsMax],
      queryFn: () =>
        unwrap(
          own(workspace).GET('/console/api/conversations/{id}/messages', {
            params: { path: { id: conversation.id }, query: { limit: rowsMax } },
          }),
        ),
    })),
  })
  const reads = [...(to === undefined ? [] : [sent]), found, ...conversations]
  const byId = new Map<string, Message>(
    [sent, ...conversations].flatMap(({ data }) => data?.data ?? []).map((message) => [message.id, message]),
  )
  const newestFirst = (one: Message, other: Message) => (one.id < other.id ? 1 : -1)
  return {
    messages: [...byId.values()].toSorted(newestFirst).slice(0, rowsMax),
    conversation: found.data?.data[0],
    isPending: reads.some((read) => read.isPending),
    // keep showing loaded data
    error: reads.find((read) => read.isError && read.data === undefined)?.error ?? null,
    again: () => reads.filter((read) => read.isError).forEach((read) => void read.refetch()),
  }
}

type Change = components['schemas']['ConsentChange']

const consentRowsMax = 100

export function ConsentHistory({ id }: { id: string }) {
  const workspace = useWorkspace()
  const changes = useApiQuery(workspace, ['contacts.list_consent_history', id], () =>
    v1(workspace).GET('/v1/contacts/{id}/consent_history', {
      params: { path: { id }, query: { limit: consentRowsMax } },
    }),
  )
  const columns = useColumns()
  return (
    <section>
      <Title order={2} size="h4">
        {text.contacts.history}
      </Title>
      {changes.isError && <ProblemAlert problem={problemOf(changes.error)} onRetry={() => void changes.refetch()} />}
      <RowsTable name={text.contacts.history} columns={columns} rows={changes.data?.data ?? []} />
    </section>
  )
}

function useColumns(): Column<Change>[] {
  const workspace = useWorkspace()
  const time = useTimeFormat()
  const { historyColumns: columns, consentChannel } = text.contacts
  return [
    { id: 'at', header: columns.at, cell: ({ occurred_at }) => time(occurred_at) },
    {
      id: 'channel',
      header: columns.channel,
      cell: ({ channel_type }) =>
        consentChannel(humanize(channel_type.split('.')[0]!), channel_type.endsWith('.marketing')),
    },
    { id: 'status', header: columns.status, cell: ({ status }) => <Status status={status} /> },
    { id: 'source', header: columns.source, cell: ({ source }) => humanize(source) },
    {
      id: 'message',
      header: columns.message,
      cell: ({ message_id }) =>
        message_id === null ? null : <PathLink to={pathTo(workspace, 'messages', message_id)}>{message_id}</PathLink>,
    },
  ]
}
