/** The template of a live campaign, looked up at the provider itself (behaviour: campaigns 3). */
import { Problem } from '../../../contract/problem.ts'
import type { CampaignMessage } from '../../../contract/resources/campaign.ts'
import { isUp, type ChannelRow } from '../../channels/service.ts'
import type { CampaignDeps } from '../deps.ts'

/** Our copy counts where the provider cannot be asked. Throws 422 `template_not_approved` where it is missing or unapproved, 400 `parameter_invalid` where the parameters do not fit it. */
export async function requireTemplate({ channels }: Pick<CampaignDeps, 'channels'>, channel: ChannelRow, message: CampaignMessage): Promise<void> {
  if (message.type !== 'template') return
  const content = message['template']
  const { refusal } = isUp(channel) ? await channels.templateVerdictAsked(channel, content) : await channels.templateVerdict(channel, content, false)
  if (refusal === null) return
  if (refusal.code === 'upstream_unavailable') throw refusal
  const param = `message.${refusal.param ?? 'template'}`
  if (refusal.param !== 'template.components') throw new Problem('template_not_approved', refusal.message, { param })
  throw Problem.invalid([{ param, code: 'invalid_value', message: refusal.message }])
}
