/**
 * Checks of a message that need the database (behaviour: messages 3). Consent, window and balance are checked again at
 * the commit.
 */
import type { Tenant } from '../../../api/caller.ts'
import { isId } from '../../../api/ids.ts'
import { missing, Problem } from '../../../api/problem.ts'
import { parseStrictDateTime } from '../../../api/times.ts'
import { isoTime } from '../../../lib/clock.ts'
import { smsEncoding } from '../../../lib/gsm.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { BillingService } from '../../billing/service.ts'
import {
  type ChannelRow,
  type ChannelService,
  isTestChannel,
  isUp,
  type TemplateVerdict,
} from '../../channels/service.ts'
import {
  addressKeyOf,
  findEligibility,
  type Ineligible,
  marketingType,
  suppressionHash,
} from '../../contacts/service.ts'
import { findMessage } from '../repository.ts'
import type { QueueLimit } from './queue-limit.ts'
import { refusalOf } from './refusals.ts'
import type { CheckedMessage } from './row.ts'
import type { MessageRequest } from './validate.ts'

export interface EligibilityDeps {
  readonly platform: Platform
  readonly channels: ChannelService
  readonly billing: BillingService
  readonly queues: QueueLimit
}

const noTemplate: TemplateVerdict = { refusal: null, marketing: false, status: null }

/** Throws `resource_missing`. */
export async function requireReplyTo({ platform }: EligibilityDeps, tenant: Tenant, id: string): Promise<void> {
  const found = isId('msg', id) ? await findMessage(platform.pool, tenant, id) : null
  if (found === null) throw missing('message', id, 'reply_to')
}

/** Refuses for consent and window before connection and funds. */
export async function requireEligible(
  deps: EligibilityDeps,
  tenant: Tenant,
  channel: ChannelRow,
  request: MessageRequest,
): Promise<CheckedMessage> {
  const template =
    request.type === 'template'
      ? await deps.channels.templateVerdict(channel, request[request.type], isUp(channel))
      : noTemplate
  const refusal = channelRefusal(deps, channel, request, template.refusal)
  if (refusal === null && !isTestChannel(channel)) deps.queues.check(`${tenant.account_id}:${channel.id}`)
  const message = await checkedMessage(deps, tenant, channel, request)
  if (template.marketing) await requireMarketingConsent(deps.platform, message)
  if (refusal === null) return message
  const verdict = await verdictOf(deps.platform, message)
  throw verdict === null ? refusal : refusalOf(verdict)
}

function channelRefusal(
  { channels }: EligibilityDeps,
  channel: ChannelRow,
  { to, type, ...contents }: MessageRequest,
  template: Problem | null,
): Problem | null {
  const refusal = channels
    .adapterOf(channel)
    ?.validate?.({ to, type, content: contents[type], settings: channel.settings })
  if (refusal !== null && refusal !== undefined)
    return new Problem(refusal.code, refusal.message, refusal.param === undefined ? {} : { param: refusal.param })
  if (template !== null) return template
  return isUp(channel)
    ? null
    : new Problem('channel_not_connected', `The channel ${channel.id} is ${whyDown(channel)}, then send again.`)
}

function whyDown({ id, status, connection_status }: ChannelRow): string {
  if (status === 'disabled') return `disabled. Set its \`status\` to \`active\` with PATCH /v1/channels/${id}`
  if (status !== 'active') return `${status}. Wait until it is active`
  return `${connection_status}. Wait until it is connected again, or reconnect it with POST /v1/channels/${id}/reconnect`
}

async function checkedMessage(
  { platform, billing }: EligibilityDeps,
  tenant: Tenant,
  channel: ChannelRow,
  request: MessageRequest,
): Promise<CheckedMessage> {
  const { account_id, mode } = tenant
  const { to, type } = request
  const content = request[type]
  const { kind, address } = addressKeyOf(channel.type, to)
  const sms = channel.type === 'sms' && type === 'text' ? smsEncoding((content as { body: string }).body) : null
  return {
    account_id,
    mode,
    channel_id: channel.id,
    channel_type: channel.type,
    to,
    from: channel.identifier,
    type,
    content,
    reference: request.reference ?? null,
    metadata: request.metadata ?? {},
    reply_to: request.reply_to ?? null,
    segments: sms?.segments ?? null,
    encoding: sms?.encoding ?? null,
    priority: request.priority ?? 'normal',
    send_at: typeof request.send_at === 'string' ? parseStrictDateTime(request.send_at) : null,
    expires_in_seconds: request.expires_in_seconds ?? null,
    price_micros: mode === 'test' ? 0 : await billing.prices.priceOf(tenant, channel.type),
    kind,
    address,
    suppression: suppressionHash(platform.secrets, tenant, channel.type, address),
    windowed: channel.type === 'whatsapp' && channel.mode === 'live' && type !== 'template',
    sandbox: isTestChannel(channel),
  }
}

const stoppedMarketing =
  'The recipient has stopped marketing on this channel. Do not retry; templates that are no marketing may still be sent.'

async function requireMarketingConsent(platform: Platform, message: CheckedMessage): Promise<void> {
  const channel_type = marketingType(message.channel_type)
  const suppression = suppressionHash(platform.secrets, message, channel_type, message.address)
  const verdict = await verdictOf(platform, { ...message, channel_type, suppression, windowed: false })
  if (verdict !== null) throw new Problem('recipient_blocked', stoppedMarketing)
}

async function verdictOf({ pool, clock }: Platform, message: CheckedMessage): Promise<Ineligible | null> {
  const [found] = await findEligibility(pool, [message], isoTime(clock.now()))
  return found!.verdict
}
