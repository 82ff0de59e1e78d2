/** One campaign: form of a draft, else progress, results and recipients. */
import { Group, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { own, problemOf, v1 } from '../../api/client.ts'
import { recipientStatuses } from '../../api/generated/tables.ts'
import type { components } from '../../api/generated/v1.ts'
import { listQuery, useApiQuery } from '../../api/use-api-query.ts'
import { pathTo, type Workspace, useWorkspace } from '../../app/paths.ts'
import { Bubble } from '../../components/content/bubble.tsx'
import { useTemplates } from '../../components/content/content-fields.tsx'
import { SuccessNotice, ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ApiButton } from '../../components/feedback/api-button.tsx'
import { QueryScreen, Screen, LoadingIndicator } from '../../components/feedback/screen.tsx'
import { ChoiceField } from '../../components/form/fields.tsx'
import { DescriptionList, Region, Status } from '../../components/format/facts.tsx'
import { formatDollars, formatNumber, useTimeFormat, useZone } from '../../components/format/intl.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { FilterText, useFilters } from '../../components/table/filters.tsx'
import { type Column, Pager, RowsTable } from '../../components/table/list-table.tsx'
import { humanize, text } from '../../text/en.ts'
import { CampaignActions } from './campaign-actions.tsx'
import { type Campaign, draftOf } from './campaign-draft.ts'
import { CampaignForm } from './campaign-form.tsx'

export function CampaignScreen() {
  const workspace = useWorkspace()
  const { id } = useParams({ strict: false }) as { id: string }
  const query = useApiQuery(workspace, ['campaigns.retrieve', id], () =>
    v1(workspace).GET('/v1/campaigns/{id}', { params: { path: { id } } }),
  )
  return (
    <QueryScreen title={text.screens.campaigns} query={query}>
      {(campaign) =>
        campaign.status === 'draft' ? (
          <StoredDraft key={id} workspace={workspace} campaign={campaign} />
        ) : (
          <CampaignProgress workspace={workspace} campaign={campaign} />
        )
      }
    </QueryScreen>
  )
}

function StoredDraft({ workspace, campaign }: { workspace: Workspace; campaign: Campaign }) {
  const zone = useZone()
  const { templates, isPending } = useTemplates(workspace, campaign.channel_id, campaign.message.type)
  if (isPending) return <LoadingIndicator />
  return <CampaignForm workspace={workspace} title={campaign.name} first={draftOf(campaign, templates, zone)} />
}

const words = text.campaigns.one

function CampaignProgress({ workspace, campaign }: { workspace: Workspace; campaign: Campaign }) {
  const [done, setDone] = useState('')
  return (
    <Screen
      title={campaign.name}
      mode={workspace.mode}
      actions={
        <ApiButton request={{ operation: 'campaigns.retrieve', method: 'GET', path: `/v1/campaigns/${campaign.id}` }} />
      }
    >
      <Stack>
        <ProgressBar campaign={campaign} />
        <CampaignActions workspace={workspace} campaign={campaign} onDone={setDone} />
        <SuccessNotice text={done} />
        <SimpleGrid cols={{ base: 1, md: 3 }}>
          <Results workspace={workspace} campaign={campaign} />
          <CampaignFacts workspace={workspace} campaign={campaign} />
          <Region title={text.campaigns.form.preview}>
            <Bubble type={campaign.message.type} content={{ ...campaign.message }} isOurs />
          </Region>
        </SimpleGrid>
        <RecipientsTable workspace={workspace} campaign={campaign} />
      </Stack>
    </Screen>
  )
}

function ProgressBar({ campaign: { counters, status, pause_reason, failure_reason } }: { campaign: Campaign }) {
  const processed = counters.total - counters.queued
  const percent = counters.total === 0 ? (status === 'completed' ? 100 : 0) : (processed / counters.total) * 100
  const said = words.processed(formatNumber(processed), formatNumber(counters.total))
  const reason = pause_reason ?? failure_reason
  return (
    <Stack gap={4}>
      <Group justify="space-between">
        <Group gap="xs">
          <Status status={status} />
          {reason !== null && <Text size="sm">{humanize(reason)}</Text>}
        </Group>
        <Text size="sm">{said}</Text>
      </Group>
      <progress className="progress" max={100} value={percent} aria-label={words.progress} aria-valuetext={said} />
    </Stack>
  )
}

const percents = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 })

function Results({ workspace, campaign: { id, counters, cost } }: { workspace: Workspace; campaign: Campaign }) {
  const { data: responses } = useApiQuery(workspace, ['campaigns.responses', id], () =>
    own(workspace).GET('/console/api/campaigns/{id}/responses', { params: { path: { id } } }),
  )
  const unwrap = (count: number | undefined) =>
    count === undefined || responses === undefined
      ? '…'
      : responses.complete
        ? formatNumber(count)
        : words.atLeast(formatNumber(count))
  const { total, skip_reasons } = counters
  const share = (count: number) =>
    count === 0 || total === 0 ? formatNumber(count) : words.share(formatNumber(count), percents.format(count / total))
  const reasons = Object.entries(skip_reasons).map(([reason, count]) => `${humanize(reason)}: ${formatNumber(count)}`)
  const counted = (['queued', 'sent', 'delivered', 'read', 'failed', 'skipped', 'cancelled'] as const).map(
    (name) => [words[name], share(counters[name])] as const,
  )
  return (
    <Region title={words.results}>
      <DescriptionList
        of={[
          [words.total, formatNumber(total)],
          ...counted,
          [words.replies, unwrap(responses?.replies)],
          [words.optOuts, unwrap(responses?.opt_outs)],
          [words.why, reasons.length === 0 ? null : reasons.join(', ')],
          [
            words.cost,
            [
              cost.package_credits > 0 ? text.campaigns.launch.credits(formatNumber(cost.package_credits)) : '',
              formatDollars(cost.wallet_micros),
            ]
              .filter((part) => part !== '')
              .join(' + '),
          ],
        ]}
      />
    </Region>
  )
}

function CampaignFacts({ workspace, campaign }: { workspace: Workspace; campaign: Campaign }) {
  const time = useTimeFormat()
  const { channel_id, audience, schedule, launched_at, completed_at, throttle_per_second } = campaign
  const form = text.campaigns.form
  const type = audience.type as keyof typeof form.audiences
  return (
    <Region title={words.facts}>
      <DescriptionList
        of={[
          [
            words.channel,
            <PathLink key="channel" to={pathTo(workspace, 'channels', channel_id)}>
              {channel_id}
            </PathLink>,
          ],
          [form.audience, form.audiences[type] ?? audience.type],
          [form.rate, formatNumber(throttle_per_second)],
          [words.sendAt, schedule.send_at === null ? null : time(schedule.send_at)],
          [words.launched, time(launched_at)],
          [words.completed, completed_at === null ? null : time(completed_at)],
        ]}
      />
    </Region>
  )
}

type Recipient = components['schemas']['CampaignRecipient']

function RecipientsTable({ workspace, campaign: { id } }: { workspace: Workspace; campaign: Campaign }) {
  const { query, set } = useFilters(['status', 'to'])
  const recipients = useApiQuery(workspace, ['campaigns.list_recipients', id, query], () =>
    v1(workspace).GET('/v1/campaigns/{id}/recipients', { params: { path: { id }, query: listQuery(query) } }),
  )
  // the string variant is CSV, which is not requested
  const page = typeof recipients.data === 'string' ? undefined : recipients.data
  const columns = useColumns(workspace)
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
          choices={recipientStatuses.map((value) => ({ value, label: humanize(value) }))}
          value={query['status'] ?? ''}
          onChange={(status) => set('status', status)}
        />
        <FilterText key={to} label={words.to} value={to} onApply={(typed) => set('to', typed)} />
      </div>
      {recipients.isError && (
        <ProblemAlert problem={problemOf(recipients.error)} onRetry={() => void recipients.refetch()} />
      )}
      <RowsTable name={words.recipients} columns={columns} rows={page?.data ?? []} />
      {page !== undefined && <Pager page={page} />}
    </section>
  )
}

function useColumns(workspace: Workspace): Column<Recipient>[] {
  const time = useTimeFormat()
  return [
    { id: 'to', header: words.to, cell: ({ to }) => <bdi>{to}</bdi> },
    { id: 'name', header: words.name, cell: ({ name }) => <bdi>{name}</bdi> },
    { id: 'status', header: words.status, cell: ({ status }) => <Status status={status} /> },
    {
      id: 'why',
      header: words.why,
      cell: ({ skip_reason, error }) => (skip_reason === null ? error?.message : humanize(skip_reason)),
    },
    {
      id: 'message',
      header: words.message,
      cell: ({ message_id, to }) =>
        message_id !== null && (
          <PathLink to={pathTo(workspace, 'messages', message_id)} aria-label={words.openNamed(to)}>
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
