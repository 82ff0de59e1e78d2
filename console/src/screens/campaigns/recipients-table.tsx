/** Whom a campaign goes to, and what became of each. */
import { Title } from '@mantine/core'
import { v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import { recipientStatuses } from '../../api/generated/tables.ts'
import { problemOf } from '../../api/problem.ts'
import { listQuery, useRead } from '../../api/use-read.ts'
import { ChoiceField } from '../../parts/fields.tsx'
import { FilterText } from '../../parts/filter-text.tsx'
import { Pager, RowsTable, type Column } from '../../parts/list-table.tsx'
import { PathLink } from '../../parts/path-link.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { Status } from '../../parts/status.tsx'
import { useTime } from '../../parts/times.ts'
import { useFilters } from '../../parts/use-filters.ts'
import { pathTo, type Place } from '../../paths.ts'
import { inWords, text } from '../../text/en.ts'
import type { Campaign } from './campaign.ts'

const words = text.campaigns.one

type Recipient = components['schemas']['CampaignRecipient']

export function RecipientsTable({ place, campaign: { id } }: { place: Place; campaign: Campaign }) {
  const { query, set } = useFilters(['status', 'to'])
  const recipients = useRead(place, ['campaigns.list_recipients', id, query], () =>
    v1(place).GET('/v1/campaigns/{id}/recipients', { params: { path: { id }, query: listQuery(query) } }),
  )
  // the other form of the answer is CSV, which is not asked for
  const page = typeof recipients.data === 'string' ? undefined : recipients.data
  const columns = useColumns(place)
  const to = query['to'] ?? ''
  return (
    <section aria-busy={recipients.isPending || recipients.isPlaceholderData}>
      <Title order={2} size="h4" mb="xs">
        {words.recipients}
      </Title>
      <div className="filters">
        <ChoiceField
          label={words.status}
          any={text.campaigns.any}
          choices={recipientStatuses.map((value) => ({ value, label: inWords(value) }))}
          value={query['status'] ?? ''}
          onChange={(status) => set('status', status)}
        />
        <FilterText key={to} label={words.to} value={to} onApply={(typed) => set('to', typed)} />
      </div>
      {recipients.isError && (
        <ProblemAlert problem={problemOf(recipients.error)} onAgain={() => void recipients.refetch()} />
      )}
      <RowsTable name={words.recipients} columns={columns} rows={page?.data ?? []} />
      {page !== undefined && <Pager page={page} />}
    </section>
  )
}

function useColumns(place: Place): Column<Recipient>[] {
  const time = useTime()
  return [
    { id: 'to', header: words.to, cell: ({ to }) => <bdi>{to}</bdi> },
    { id: 'name', header: words.name, cell: ({ name }) => <bdi>{name}</bdi> },
    { id: 'status', header: words.status, cell: ({ status }) => <Status status={status} /> },
    {
      id: 'why',
      header: words.why,
      cell: ({ skip_reason, error }) => (skip_reason === null ? error?.message : inWords(skip_reason)),
    },
    {
      id: 'message',
      header: words.message,
      cell: ({ message_id, to }) =>
        message_id !== null && (
          <PathLink to={pathTo(place, 'messages', message_id)} aria-label={words.openNamed(to)}>
            {words.openMessage}
          </PathLink>
        ),
    },
    {
      id: 'at',
      header: words.at,
      cell: ({ failed_at, read_at, delivered_at, sent_at }) => time(failed_at ?? read_at ?? delivered_at ?? sent_at),
    },
  ]
}
