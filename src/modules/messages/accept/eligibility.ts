/** Whether a checked message's recipient may be written to, asked before the statement that accepts asks it again: for what it would refuse in another order, and for marketing. */
import { Problem } from '../../../api/problem.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Platform } from '../../../platform/platform.ts'
import { findEligibility, marketingType, suppressionHash, type Ineligible } from '../../contacts/service.ts'
import type { CheckedMessage } from './checked-message.ts'
import { refusalOf } from './refusals.ts'

const stoppedMarketing =
  'The recipient has stopped marketing on this channel. Do not retry; templates that are no marketing may still be sent.'

/** The refusal of a message that is marketing, to a recipient who has opted out of that; or null. */
export async function stoppedFrom(platform: Platform, message: CheckedMessage): Promise<Problem | null> {
  const channel_type = marketingType(message.channel_type)
  const suppression = suppressionHash(platform.secrets, message, channel_type, message.address)
  const verdict = await verdictOf(platform, { ...message, channel_type, suppression, windowed: false })
  return verdict === null ? null : new Problem('recipient_blocked', stoppedMarketing)
}

/** Consent and window go before connection and funds (behaviour: messages 3): the refusal of a message that is refused in any case, or null. */
export async function ineligible(platform: Platform, message: CheckedMessage): Promise<Problem | null> {
  const verdict = await verdictOf(platform, message)
  return verdict === null ? null : refusalOf(verdict)
}

async function verdictOf({ pool, clock }: Platform, message: CheckedMessage): Promise<Ineligible | null> {
  const [found] = await findEligibility(pool, [message], isoTime(clock.now()))
  return found!.verdict
}
