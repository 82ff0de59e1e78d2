/** `campaigns/{id}`: a draft as its form, anything else as how far it is. */
import { Group, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { own, problemOf, v1 } from '../../api/client.ts'
import { recipientStatuses } from '../../api/generated/tables.ts'
import type { components } from '../../api/generated/v1.ts'
import { listQuery, useRead } from '../../api/use-api-query.ts'
import { pathTo, type Place, usePlace } from '../../app/paths.ts'
import { Bubble } from '../../components/content/bubble.tsx'
import { useTemplates } from '../../components/content/content-fields.tsx'
import { Done, ProblemAlert } from '../../components/feedback/alerts.tsx'
import { ApiButton } from '../../components/feedback/api-button.tsx'
import { Loaded, Screen, Waiting } from '../../components/feedback/screen.tsx'
import { ChoiceField } from '../../components/form/fields.tsx'
import { Facts, Region, Status } from '../../components/format/facts.tsx'
import { dollarsOf, numberOf, useTime, useZone } from '../../components/format/intl.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { FilterText, useFilters } from '../../components/table/filters.tsx'
import { type Column, Pager, RowsTable } from '../../components/table/list-table.tsx'
import { inWords, text } from '../../text/en.ts'
import { CampaignActions } from './campaign-actions.tsx'
import { type Campaign, draftOf } from './campaign-draft.ts'
import { CampaignForm } from './campaign-form.tsx'

export function CampaignScreen() {
  const place = usePlace()
  const { id } = useParams({ strict: false }) as { id: string }
  const query = useRead(place, ['campaigns.retrieve', id], () =>
    v1(place).GET('/v1/campaigns/{id}', { params: { path: { id } } }),
  )
  return (
    <Loaded title={text.screens.campaigns} query={query}>
      {(campaign) =>
        campaign.status === 'draft' ? (
          <StoredDraft key={id} place={place} campaign={campaign} />
        ) : (
          <CampaignProgress place={place} campaign={campaign} />
        )
      }
    </Loaded>
  )
}

/** The form is filled once, when the templates are known that its message may name. */
function StoredDraft({ place, campaign }: { place: Place; campaign: Campaign }) {
  const zone = useZone()
  const { templates, isPending } = useTemplates(place, campaign.channel_id, campaign.message.type)
  if (isPending) return <Waiting />
  return <CampaignForm place={place} title={campaign.name} first={draftOf(campaign, templates, zone)} />
}

const words = text.campaigns.one

/** A campaign that has been launched: how far it is, what came of it, and to whom it went. */
function CampaignProgress({ place, campaign }: { place: Place; campaign: Campaign }) {
  const [done, setDone] = useState('')
  return (
    <Screen
      title={campaign.name}
      mode={place.mode}
      actions={
        <ApiButton request={{ operation: 'campaigns.retrieve', method: 'GET', path: `/v1/campaigns/${campaign.id}` }} />
      }
    >
      <Stack>
        <ProgressBar campaign={campaign} />
        <CampaignActions place={place} campaign={campaign} onDone={setDone} />
        <Done text={done} />
        <SimpleGrid cols={{ base: 1, md: 3 }}>
          <Results place={place} campaign={campaign} />
          <CampaignFacts place={place} campaign={campaign} />
          <Region title={text.campaigns.form.preview}>
            <Bubble type={campaign.message.type} content={campaign.message} isOurs />
          </Region>
        </SimpleGrid>
        <RecipientsTable place={place} campaign={campaign} />
      </Stack>
    </Screen>
  )
}

function ProgressBar({ campaign: { counters, status, pause_reason, failure_reason } }: { campaign: Campaign }) {
  const processed = counters.total - counters.queued
  const percent = counters.total === 0 ? (status === 'completed' ? 100 : 0) : (processed / counters.total) * 100
  const said = words.processed(numberOf(processed), numberOf(counters.total))
  const reason = pause_reason ?? failure_reason
  return (
    <Stack gap={4}>
      <Group justify="space-between">
        <Group gap="xs">
          <Status status={status} />
          {reason !== null && <Text size="sm">{inWords(reason)}</Text>}
        </Group>
        <Text size="sm">{said}</Text>
      </Group>
      <progress className="progress" max={100} value={percent} aria-label={words.progress} aria-valuetext={said} />
    </Stack>
  )
}

const percents = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 })

function Results({ place, campaign: { id, counters, cost } }: { place: Place; campaign: Campaign }) {
  const { data: responses } = useRead(place, ['campaigns.responses', id], () =>
    own(place).GET('/console/api/campaigns/{id}/responses', { params: { path: { id } } }),
  )
  const answered = (count: number | undefined) =>
    count === undefined || responses === undefined
      ? '…'
      : responses.complete
        ? numberOf(count)
        : words.atLeast(numberOf(count))
  const { total, skip_reasons } = counters
  const share = (count: number) =>
    count === 0 || total === 0 ? numberOf(count) : words.share(numberOf(count), percents.format(count / total))
  const reasons = Object.entries(skip_reasons).map(([reason, count]) => `${inWords(reason)}: ${numberOf(count)}`)
  const counted = (['queued', 'sent', 'delivered', 'read', 'failed', 'skipped', 'cancelled'] as const).map(
    (name) => [words[name], share(counters[name])] as const,
  )
  return (
    <Region title={words.results}>
      <Facts
        of={[
          [words.total, numberOf(total)],
          ...counted,
          [words.replies, answered(responses?.replies)],
          [words.optOuts, answered(responses?.opt_outs)],
          [words.why, reasons.length === 0 ? null : reasons.join(', ')],
          [
            words.cost,
            [
              cost.package_credits > 0 ? text.campaigns.launch.credits(numberOf(cost.package_credits)) : '',
              dollarsOf(cost.wallet_micros),
            ]
              .filter((part) => part !== '')
              .join(' + '),
          ],
        ]}
      />
    </Region>
  )
}

function CampaignFacts({ place, campaign }: { place: Place; campaign: Campaign }) {
  const time = useTime()
  const { channel_id, audience, schedule, launched_at, completed_at, throttle_per_second } = campaign
  const form = text.campaigns.form
  const type = audience.type as keyof typeof form.audiences
  return (
    <Region title={words.facts}>
      <Facts
        of={[
          [
            words.channel,
            <PathLink key="channel" to={pathTo(place, 'channels', channel_id)}>
              {channel_id}
            </PathLink>,
          ],
          [form.audience, form.audiences[type] ?? audience.type],
          [form.rate, numberOf(throttle_per_second)],
          [words.sendAt, schedule.send_at === null ? null : time(schedule.send_at)],
          [words.launched, time(launched_at)],
          [words.completed, completed_at === null ? null : time(completed_at)],
        ]}
      />
    </Region>
  )
}

type Recipient = components['schemas']['CampaignRecipient']

/** Whom a campaign goes to, and what became of each. */
function RecipientsTable({ place, campaign: { id } }: { place: Place; campaign: Campaign }) {
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
