/** What may follow what: the states of a campaign (behaviour: campaigns 2). */
import { Problem } from '../../api/problem.ts'
import type { CampaignStatus } from '../../api/resources/campaign.ts'

export type CampaignAction = 'update' | 'delete' | 'launch' | 'pause' | 'resume' | 'cancel' | 'rehearse'

/** From which statuses an action may be asked for. */
const allowedFrom: Readonly<Record<CampaignAction, readonly CampaignStatus[]>> = {
  update: ['draft'],
  delete: ['draft'],
  launch: ['draft'],
  pause: ['scheduled', 'queued', 'sending'],
  resume: ['paused'],
  cancel: ['draft', 'scheduled', 'queued', 'sending', 'paused'],
  rehearse: ['draft', 'scheduled', 'queued', 'sending', 'paused'],
}

/** Where the service itself may take a campaign from, and to what. */
export const servicesMoves: Readonly<Partial<Record<CampaignStatus, readonly CampaignStatus[]>>> = {
  queued: ['scheduled'],
  sending: ['queued'],
  paused: ['scheduled', 'queued', 'sending'],
  completed: ['sending'],
  failed: ['scheduled', 'queued', 'sending', 'paused'],
}

const doings: Readonly<Record<CampaignAction, string>> = {
  update: 'changed',
  delete: 'deleted',
  launch: 'launched',
  pause: 'paused',
  resume: 'resumed',
  cancel: 'cancelled',
  rehearse: 'rehearsed',
}

/** Throws 409 `campaign_state_invalid` where a campaign of this status cannot be asked for that. */
export function requireAction(
  { id, status }: { readonly id: string; readonly status: CampaignStatus },
  action: CampaignAction,
): void {
  if (allowedFrom[action].includes(status)) return
  const allowed = allowedFrom[action]
  const only =
    allowed.length === 1
      ? `one that is ${allowed[0]}`
      : `one that is ${allowed.slice(0, -1).join(', ')} or ${allowed.at(-1)}`
  const instead =
    action === 'update' || action === 'launch'
      ? ` To send it again, make a draft of it with POST /v1/campaigns/${id}/duplicate.`
      : ''
  throw new Problem(
    'campaign_state_invalid',
    `The campaign ${id} is ${status}; only ${only} can be ${doings[action]}.${instead}`,
  )
}
