/** Sends to some recipients of a campaign: each rendered, checked and submitted; what cannot be sent is said of the recipient at once. */
import type { PauseReason, SkipReason } from '../../../contract/resources/campaign.ts'
import { Problem } from '../../../contract/problem.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { ContactRow } from '../../contacts/service.ts'
import type { CheckedMessage, ItemOutcome } from '../../messages/service.ts'
import type { CampaignDeps } from '../deps.ts'
import { settleUnsendable, type UnsentRow, type Unsendable } from '../recipient-store.ts'
import type { CampaignRow } from '../rows.ts'
import { submissionKey } from '../submitter.ts'
import { renderedFor, valuesOf } from './rendering.ts'

export interface Sent {
  /** Messages that were accepted. */
  readonly accepted: number
  /** Why the campaign cannot go on; null: it can. */
  readonly pause: PauseReason | null
  /** The service could not take something just now: it is tried again in a moment. */
  readonly unavailable: boolean
}

/** What is to become of one recipient. */
type Decision =
  | { readonly kind: 'send'; readonly n: number; readonly message: CheckedMessage }
  | { readonly kind: 'unsendable'; readonly row: Unsendable }
  | { readonly kind: 'pause'; readonly reason: PauseReason }
  | { readonly kind: 'later' }

export async function sendTo(deps: CampaignDeps, campaign: CampaignRow, recipients: readonly UnsentRow[]): Promise<Sent> {
  const { platform, contacts, messages } = deps
  const ids = recipients.flatMap(({ contact_id }) => (contact_id === null ? [] : [contact_id]))
  const known = new Map((await contacts.rows(platform.pool, campaign, ids)).map((row) => [row.id, row]))
  const decisions = await Promise.all(recipients.map((recipient) => decide(deps, campaign, recipient, known)))
  const unsendable = decisions.flatMap((decision) => (decision.kind === 'unsendable' ? [decision.row] : []))
  await settleUnsendable(platform.pool, campaign, unsendable, isoTime(platform.clock.now()))
  const items = decisions.flatMap((decision) => (decision.kind === 'send' ? [decision] : []))
  const outcomes =
    items.length === 0
      ? []
      : await messages.submit({
          origin: { type: 'campaign', id: campaign.id },
          traffic: 'bulk',
          items: items.map(({ n, message }) => ({ message, submission_key: submissionKey(campaign.id, n) })),
          alongside: { kind: 'campaign' },
        })
  const of = (kind: ItemOutcome['kind']) => outcomes.filter((outcome) => outcome.kind === kind).length
  const paused = decisions.find((decision) => decision.kind === 'pause')
  return {
    accepted: of('accepted'),
    pause: paused?.reason ?? (of('no_funds') > 0 ? 'insufficient_balance' : null),
    unavailable: of('unavailable') > 0 || decisions.some(({ kind }) => kind === 'later'),
  }
}

async function decide(deps: CampaignDeps, campaign: CampaignRow, recipient: UnsentRow, known: ReadonlyMap<string, ContactRow>): Promise<Decision> {
  const { n, contact_id } = recipient
  const contact = contact_id === null ? undefined : known.get(contact_id)
  if (contact_id !== null && contact === undefined) return skipped(n, 'contact_deleted')
  if (campaign.require_opt_in && contact?.consent[campaign.channel_type]?.status !== 'opted_in') return skipped(n, 'not_opted_in')
  try {
    const content = renderedFor(campaign, valuesOf(recipient, contact))
    const message = await deps.messages.check(campaign, { channel: campaign.channel_id, to: recipient.to, priority: 'low', ...content })
    return { kind: 'send', n, message }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return refused(n, error)
  }
}

const skipped = (n: number, skip_reason: SkipReason): Decision => ({ kind: 'unsendable', row: { n, skip_reason, error: null } })

/** What a refusal of the message means for the recipient, or for the whole campaign (behaviour: campaigns 5). */
function refused(n: number, { code, message }: Problem): Decision {
  switch (code) {
    case 'recipient_blocked':
      return skipped(n, 'unsubscribed')
    case 'insufficient_balance':
      return { kind: 'pause', reason: 'insufficient_balance' }
    case 'channel_not_connected':
      return { kind: 'pause', reason: 'channel_disconnected' }
    case 'upstream_unavailable':
      return { kind: 'later' }
    default:
      return { kind: 'unsendable', row: { n, skip_reason: null, error: { code, message, provider_code: '' } } }
  }
}
