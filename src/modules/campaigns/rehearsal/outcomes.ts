/** Predicts the outcome for each recipient, with the same checks as sending. */
import { validateContent } from '../../../api/content/validate.ts'
import { Problem, type ProblemCode, throwFailures } from '../../../api/problem.ts'
import type { CampaignMessage, SkipReason } from '../../../api/resources/campaign.ts'
import type { TimeSlices } from '../../../lib/concurrency.ts'
import { contactsById } from '../audience/eligibility.ts'
import type { Candidate } from '../audience/repository.ts'
import type { CampaignRow } from '../campaign.ts'
import type { CampaignDeps } from '../deps.ts'
import { renderedFor, valuesOf } from '../sending/rendering.ts'
import { type ChannelRow, isUp } from '../../channels/service.ts'
import type { ContactRow } from '../../contacts/service.ts'
import { hasTags } from '../../messages/service.ts'
import type { Transaction } from '../../../platform/database/sql.ts'

export interface Outcome {
  readonly candidate: Candidate
  /** A skip reason, or the error code that fails the recipient. null: it is sent. */
  readonly reason: SkipReason | ProblemCode | null
  /** null if nothing is sent, or the message exists already. */
  readonly message: CampaignMessage | null
}

export interface OutcomePredictor {
  readonly varies: boolean
  outcomes(sql: Transaction, candidates: readonly Candidate[], slices: TimeSlices): Promise<Outcome[]>
}

export function outcomePredictor(
  deps: CampaignDeps,
  campaign: CampaignRow,
  channel: ChannelRow | null,
): OutcomePredictor {
  const { channels } = deps
  const tagged = hasTags(campaign.message)
  const refuses = channel === null ? undefined : channels.adapterOf(channel)?.validate

  function messageTo(
    candidate: Candidate,
    contact: ContactRow | undefined,
  ): { message: CampaignMessage; refused: ProblemCode | null } {
    const message = renderedFor(campaign, valuesOf(candidate, contact))
    const { type } = message
    const failures = validateContent(type, message[type], { channel_type: campaign.channel_type })
    throwFailures(failures)
    const refusal = refuses?.({ to: candidate.to, type, content: message[type], settings: channel!.settings })
    return { message, refused: refusal?.code ?? null }
  }

  function outcomeOf(candidate: Candidate, contact: ContactRow | undefined): Outcome {
    if (candidate.skip_reason !== null || candidate.submitted)
      return { candidate, reason: candidate.skip_reason, message: null }
    try {
      const { message, refused } = messageTo(candidate, contact)
      const reason = refused === null ? null : reasonOf(refused, channel !== null && isUp(channel))
      return { candidate, reason, message: reason === null ? message : null }
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      return { candidate, reason: error.code, message: null }
    }
  }

  return {
    varies: tagged || refuses !== undefined,
    async outcomes(sql, candidates, slices) {
      const wanted = tagged ? candidates.filter(({ skip_reason, submitted }) => skip_reason === null && !submitted) : []
      const known = await contactsById(deps, sql, campaign, wanted)
      const outcomes: Outcome[] = []
      for (const candidate of candidates) {
        outcomes.push(outcomeOf(candidate, known.get(candidate.contact_id ?? '')))
        await slices.next()
      }
      return outcomes
    },
  }
}

/** null if the campaign would wait or pause and send in the end. */
function reasonOf(code: ProblemCode, channel_up: boolean): SkipReason | ProblemCode | null {
  if (code === 'recipient_blocked') return 'unsubscribed'
  if (code === 'channel_not_connected') return channel_up ? code : null
  return code === 'insufficient_balance' || code === 'upstream_unavailable' ? null : code
}
