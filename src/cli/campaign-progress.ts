/** How a campaign on its way is told to people: its bar, how fast it goes, and how long it still takes. */
import type { Campaign } from '../api/resources/campaign.ts'

/** What was seen at one look. */
export interface Look {
  /** Milliseconds. */
  readonly at: number
  readonly campaign: Campaign
}

/** A rate is taken over so much of what was seen: long enough to be steady, short enough to follow a pause. */
const rateOverMs = 10_000
const barWidth = 24

/** Recipients for whom nothing remains to be sent. */
const doneOf = ({ counters: { total, queued } }: Campaign): number => total - queued

/** Whole per cent of the recipients that are done, never 100 while one is not; 0 before the snapshot. */
export const percentOf = (campaign: Campaign): number =>
  campaign.counters.total === 0 ? 0 : Math.floor((100 * doneOf(campaign)) / campaign.counters.total)

/** Recipients a second over the last looks, the newest last; null while that cannot be told. */
function measuredRate(looks: readonly Look[]): number | null {
  const last = looks.at(-1)
  const first = looks.find(
    ({ at, campaign }) => last !== undefined && at >= last.at - rateOverMs && campaign.counters.total > 0,
  )
  if (last === undefined || first === undefined || last.at - first.at < 1000) return null
  return (1000 * (doneOf(last.campaign) - doneOf(first.campaign))) / (last.at - first.at)
}

/** A line of how far it is: `[######......] 52 %  520/1000  sending  19.8/s  24 s left  3 failed, 12 skipped`. */
export function progressLine(looks: readonly Look[]): string {
  const { campaign } = looks.at(-1)!
  const { total, queued, failed, skipped, cancelled } = campaign.counters
  const full = total === 0 ? 0 : Math.floor((barWidth * doneOf(campaign)) / total)
  const rate = campaign.status === 'sending' ? measuredRate(looks) : null
  const asides = [
    failed > 0 ? `${failed} failed` : '',
    skipped > 0 ? `${skipped} skipped` : '',
    cancelled > 0 ? `${cancelled} cancelled` : '',
  ]
  return [
    `[${'#'.repeat(full)}${'.'.repeat(barWidth - full)}] ${String(percentOf(campaign)).padStart(3)} %`,
    `${doneOf(campaign)}/${total}`,
    statusOf(campaign),
    ...(rate === null ? [] : [`${rate.toFixed(1)}/s`, ...(rate > 0 ? [`${durationText(queued / rate)} left`] : [])]),
    asides.filter((aside) => aside !== '').join(', '),
  ]
    .filter((part) => part !== '')
    .join('  ')
}

/** Its status with the reason, where it has one. */
export const statusOf = ({ status, pause_reason, failure_reason }: Campaign): string => {
  const reason = pause_reason ?? failure_reason
  return reason === null ? status : `${status} (${reason})`
}

/** `45 s`, `12 min`, `3 h 20 min`, rounded up. */
export function durationText(seconds: number): string {
  if (seconds <= 90) return `${Math.ceil(seconds)} s`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
