/** A campaign that has been launched: how far it is, what came of it, and to whom it went. */
import { Group, SimpleGrid, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { own } from '../../api/client.ts'
import { useRead } from '../../api/use-read.ts'
import { dollarsOf, numberOf } from '../../parts/amounts.ts'
import { ApiButton } from '../../parts/api-button.tsx'
import { Done } from '../../parts/done.tsx'
import { Facts, Region } from '../../parts/facts.tsx'
import { PathLink } from '../../parts/path-link.tsx'
import { Bubble } from '../../parts/bubble.tsx'
import { Screen } from '../../parts/screen.tsx'
import { Status } from '../../parts/status.tsx'
import { useTime } from '../../parts/times.ts'
import { pathTo, type Place } from '../../paths.ts'
import { inWords, text } from '../../text/en.ts'
import type { Campaign } from './campaign.ts'
import { CampaignActions } from './campaign-actions.tsx'
import { RecipientsTable } from './recipients-table.tsx'

const words = text.campaigns.one

export function CampaignProgress({ place, campaign }: { place: Place; campaign: Campaign }) {
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
