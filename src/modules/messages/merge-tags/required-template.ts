/** The template of a campaign or an automation, looked up at the provider itself (behaviour: campaigns 3; integrations 5). */
import { Problem } from '../../../api/problem.ts'
import { isUp, type ChannelRow, type ChannelService } from '../../channels/service.ts'
import type { TaggedMessage } from './saved-message.ts'

/** Our copy counts where the provider cannot be asked. Throws 422 `template_not_approved` where it is missing or unapproved, 400 `parameter_invalid` where the parameters do not fit it. */
export async function requireTemplate(
  { channels }: { readonly channels: ChannelService },
  channel: ChannelRow,
  message: TaggedMessage,
): Promise<void> {
  if (message.type !== 'template') return
  const content = message['template']
  const { refusal } = isUp(channel)
    ? await channels.templateVerdictAsked(channel, content)
    : await channels.templateVerdict(channel, content, false)
  if (refusal === null) return
  if (refusal.code === 'upstream_unavailable') throw refusal
  const param = `message.${refusal.param ?? 'template'}`
  if (refusal.param !== 'template.components') throw new Problem('template_not_approved', refusal.message, { param })
  throw Problem.invalid([{ param, code: 'invalid_value', message: refusal.message }])
}
