/** Sends to a batch of recipients: renders, checks and submits each message, or ends it with a reason. */
import { Problem } from '../../../api/problem.ts'
import type { CampaignMessage, FailureReason, PauseReason, SkipReason } from '../../../api/resources/campaign.ts'
import { isoTime } from '../../../lib/clock.ts'
import { isMarketing } from '../audience/audience.ts'
import type { CampaignRow } from '../campaign.ts'
import type { CampaignDeps } from '../deps.ts'
import { submissionKey } from '../producer.ts'
import { markUnsendable, type Unsendable, type UnsentRow } from '../recipient-repository.ts'
import type { NextRecipient } from './recipient-loader.ts'
import { renderedFor, valuesOf } from './rendering.ts'
import { type ChannelRow, isUp } from '../../channels/service.ts'
import { type ContactRow, hasStopped } from '../../contacts/service.ts'
import type { CheckedMessage, ItemOutcome } from '../../messages/service.ts'

export interface Sent {
  readonly accepted: number
  readonly pause: PauseReason | null
  readonly unfunded: readonly number[]
  readonly again: readonly number[]
  readonly unavailable: boolean
}

type Decision =
  | { readonly kind: 'send'; readonly n: number; readonly message: CheckedMessage }
  | { readonly kind: 'unsendable'; readonly row: Unsendable }
  | { readonly kind: 'unfunded'; readonly n: number }
  | { readonly kind: 'later'; readonly n: number }

export async function sendTo(
  deps: CampaignDeps,
  campaign: CampaignRow,
  recipients: readonly NextRecipient[],
): Promise<Sent> {
  const { platform, messages } = deps
  const decisions = await Promise.all(recipients.map((next) => decide(deps, campaign, next)))
  const unsendable = decisions.flatMap((decision) => (decision.kind === 'unsendable' ? [decision.row] : []))
  await markUnsendable(platform.pool, campaign, unsendable, isoTime(platform.clock.now()))
  const items = decisions.flatMap((decision) => (decision.kind === 'send' ? [decision] : []))
  const outcomes =
    items.length === 0
      ? []
      : await messages.submit({
          origin: { type: 'campaign', id: campaign.id },
          traffic: 'bulk',
          items: items.map(({ n, message }) => ({ message, submission_key: submissionKey(campaign.id, n) })),
          producer: { kind: 'campaign' },
        })
  const of = (kind: ItemOutcome['kind']) => outcomes.filter((outcome) => outcome.kind === kind).length
  const numbersOf = (kind: 'later' | 'unfunded') =>
    decisions.flatMap((decision) => (decision.kind === kind ? [decision.n] : []))
  const again = numbersOf('later')
  return {
    accepted: of('accepted'),
    pause: of('no_funds') > 0 ? 'insufficient_balance' : null,
    unfunded: numbersOf('unfunded'),
    again,
    unavailable: of('unavailable') > 0 || again.length === recipients.length,
  }
}

async function decide(
  deps: CampaignDeps,
  campaign: CampaignRow,
  { recipient, contact }: NextRecipient,
): Promise<Decision> {
  const { n, contact_id } = recipient
  if (contact_id !== null && contact === undefined) return skipped(n, 'contact_deleted')
  if (campaign.require_opt_in && contact?.consent[campaign.channel_type]?.status !== 'opted_in')
    return skipped(n, 'not_opted_in')
  if (contact !== undefined && (await isStopped(deps, campaign, contact))) return skipped(n, 'unsubscribed')
  try {
    const content = rendered(deps, campaign, recipient, contact)
    const message = await deps.messages.check(campaign, {
      channel: campaign.channel_id,
      to: recipient.to,
      priority: 'low',
      ...content,
    })
    return { kind: 'send', n, message }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return await refused(deps, campaign, n, error)
  }
}

/** The check at acceptance knows only the number, which may have changed since. */
async function isStopped({ channels }: CampaignDeps, campaign: CampaignRow, contact: ContactRow): Promise<boolean> {
  if (hasStopped(contact, campaign.channel_type, false)) return true
  return hasStopped(contact, campaign.channel_type, true) && (await isMarketing(channels, campaign))
}

function rendered(
  { platform }: CampaignDeps,
  campaign: CampaignRow,
  recipient: UnsentRow,
  contact: ContactRow | undefined,
): CampaignMessage {
  try {
    return renderedFor(campaign, valuesOf(recipient, contact))
  } catch (error) {
    if (error instanceof Problem) throw error
    platform.log.error(
      { err: error, campaign_id: campaign.id, n: recipient.n },
      'the message of a recipient could not be rendered',
    )
    throw new Problem(
      'internal_error',
      'The message could not be rendered for this recipient. Check its merge tags and variables.',
    )
  }
}

const skipped = (n: number, skip_reason: SkipReason): Decision => ({
  kind: 'unsendable',
  row: { n, skip_reason, error: null },
})

/** The consequence for recipient or campaign (behaviour: campaigns 5). */
async function refused(
  deps: CampaignDeps,
  campaign: CampaignRow,
  n: number,
  { code, message }: Problem,
): Promise<Decision> {
  if (code === 'recipient_blocked') return skipped(n, 'unsubscribed')
  if (code === 'insufficient_balance') return { kind: 'unfunded', n }
  if (code === 'upstream_unavailable') return { kind: 'later', n }
  // the next poll finds what happened to the channel or template
  const channel = await deps.channels.find(campaign, campaign.channel_id)
  if ((await findBlocker(deps, campaign, channel)) !== null) return { kind: 'later', n }
  return { kind: 'unsendable', row: { n, skip_reason: null, error: { code, message, provider_code: '' } } }
}

export type Blocker =
  | { readonly kind: 'fail'; readonly reason: FailureReason }
  | { readonly kind: 'pause'; readonly reason: PauseReason }
  | { readonly kind: 'wait' }

/** (behaviour: campaigns 2) */
export async function findBlocker(
  { channels }: CampaignDeps,
  row: CampaignRow,
  channel: ChannelRow | null,
): Promise<Blocker | null> {
  if (channel === null) return { kind: 'fail', reason: 'channel_deleted' }
  if (channel.status === 'suspended') return { kind: 'fail', reason: 'channel_suspended' }
  if (!isUp(channel)) return { kind: 'pause', reason: 'channel_disconnected' }
  if (row.message.type !== 'template') return null
  const { refusal, status } = await channels.templateVerdict(channel, row.message['template'], true)
  if (refusal === null) return null
  if (refusal.code === 'upstream_unavailable') return { kind: 'wait' }
  return status === 'PAUSED'
    ? { kind: 'pause', reason: 'template_paused' }
    : { kind: 'fail', reason: 'template_not_approved' }
}
