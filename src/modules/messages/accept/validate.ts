/** From what a caller wrote to what can be submitted: the two rounds of checks of one message (behaviour: messages 3). */
import type { Tenant } from '../../../api/caller.ts'
import { validateContent } from '../../../api/content/validate.ts'
import type { Detail } from '../../../api/errors.ts'
import { isId } from '../../../api/ids.ts'
import { limits } from '../../../api/limits.ts'
import { missing, Problem, throwFailures } from '../../../api/problem.ts'
import { isPhoneChannel } from '../../../api/resources/channel.ts'
import { SendMessage, type Priority } from '../../../api/resources/message.ts'
import { parseStrictDateTime } from '../../../api/times.ts'
import { validator } from '../../../api/validation.ts'
import { smsEncoding } from '../../../lib/gsm.ts'
import { didYouMean } from '../../../lib/nearest.ts'
import { UnfitItem } from '../../../platform/http/body.ts'
import type { Platform } from '../../../platform/platform.ts'
import { withMeantPhone } from '../../accounts/service.ts'
import type { BillingService } from '../../billing/service.ts'
import {
  isTestChannel,
  isUp,
  type ChannelRow,
  type ChannelService,
  type TemplateVerdict,
} from '../../channels/service.ts'
import { addressKeyOf, suppressionHash } from '../../contacts/service.ts'
import type { CheckedMessage } from './checked-message.ts'
import { ineligible, stoppedFrom } from './eligibility.ts'
import type { QueueBound } from './queue-limit.ts'
import { findMessage } from '../repository.ts'

interface Body {
  channel: string
  to: string
  type: string
  reference?: string | null
  metadata?: Record<string, unknown> | null
  reply_to?: string | null
  send_at?: string | null
  expires_in_seconds?: number | null
  priority?: Priority | null
  [content: string]: unknown
}

const shape = validator(SendMessage)
const e164 = /^\+[1-9]\d{6,14}$/
/** Of a message that names no template. */
const noTemplate: TemplateVerdict = { refusal: null, marketing: false, status: null }
const zeroPadded = /^-?0\d+$/
const businessScopedId = /^[A-Z]{2}\.[A-Za-z0-9.]{1,128}$/

export interface CheckDeps {
  readonly platform: Platform
  readonly channels: ChannelService
  readonly billing: BillingService
  readonly queues: QueueBound
}

/** Checks one message; throws the Problem that refuses it. The checks of the database (consent, window, funds) follow in the statement that accepts. */
export async function checkMessage(deps: CheckDeps, tenant: Tenant, written: unknown): Promise<CheckedMessage> {
  const now = deps.platform.clock.now()
  const body = checkShape(written, now)
  const channel = await deps.channels.find(tenant, body.channel)
  if (channel === null) throw await deps.channels.missing(deps.platform.pool, tenant, body.channel, 'channel')
  if (typeof body.reply_to === 'string') await checkReplyTo(deps, tenant, body.reply_to)
  return await checkedFor(deps, tenant, channel, body)
}

/** The rounds that follow once the channel is known. */
async function checkedFor(deps: CheckDeps, tenant: Tenant, channel: ChannelRow, body: Body): Promise<CheckedMessage> {
  if (!channel.capabilities.includes(body.type)) throw unsupported(channel, body.type)
  const content = body[body.type]
  const failures = [
    ...validateContent(body.type, content, { channel_type: channel.type }),
    ...checkRecipient(channel.type, body.to),
  ]
  if (failures.length > 0) throwFailures(await withMeantPhone(deps.platform.pool, tenant, failures, 'to', body.to))
  const template =
    body.type === 'template' ? await deps.channels.templateVerdict(channel, content, isUp(channel)) : noTemplate
  const refusal = knownBeforehand(deps, channel, body, content, template.refusal)
  if (refusal === null && !isTestChannel(channel)) deps.queues.check(`${tenant.account_id}:${channel.id}`)
  const { kind, address } = addressKeyOf(channel.type, body.to)
  const sms = channel.type === 'sms' && body.type === 'text' ? smsEncoding((content as { body: string }).body) : null
  const message: CheckedMessage = {
    account_id: tenant.account_id,
    mode: tenant.mode,
    channel_id: channel.id,
    channel_type: channel.type,
    to: body.to,
    from: channel.identifier,
    type: body.type,
    content,
    reference: body.reference ?? null,
    metadata: body.metadata ?? {},
    reply_to: body.reply_to ?? null,
    segments: sms?.segments ?? null,
    encoding: sms?.encoding ?? null,
    priority: body.priority ?? 'normal',
    send_at: typeof body.send_at === 'string' ? parseStrictDateTime(body.send_at) : null,
    expires_in_seconds: body.expires_in_seconds ?? null,
    price_micros: tenant.mode === 'test' ? 0 : await deps.billing.prices.priceOf(tenant, channel.type),
    kind,
    address,
    suppression: suppressionHash(deps.platform.secrets, tenant, channel.type, address),
    windowed: channel.type === 'whatsapp' && channel.mode === 'live' && body.type !== 'template',
    sandbox: isTestChannel(channel),
  }
  const stopped = template.marketing ? await stoppedFrom(deps.platform, message) : null
  if (stopped !== null) throw stopped
  if (refusal !== null) throw (await ineligible(deps.platform, message)) ?? refusal
  return message
}

function checkShape(written: unknown, now: number): Body {
  if (written instanceof UnfitItem) throw Problem.invalid(written.details)
  if (written === null || typeof written !== 'object' || Array.isArray(written)) {
    throw new Problem(
      'parameter_invalid',
      'A message must be a JSON object with `channel`, `to`, `type` and the content under the key named by `type`.',
    )
  }
  const failures = shape(written)
  const body = written as Body
  if (failures.length === 0 || typeof body.metadata === 'object') failures.push(...checkMetadata(body.metadata))
  if (typeof body.send_at === 'string' && !failures.some((failure) => failure.param === 'send_at'))
    failures.push(...checkSendAt(body.send_at, now))
  throwFailures(failures)
  return body
}

function checkMetadata(metadata: Record<string, unknown> | null | undefined): Detail[] {
  if (metadata === null || metadata === undefined || Array.isArray(metadata)) return []
  if (Buffer.byteLength(JSON.stringify(metadata)) <= limits.metadata_bytes_max) return []
  return [
    {
      param: 'metadata',
      code: 'too_long',
      message: '`metadata` may have at most 16 KB of JSON. Keep the rest on your side and store its id here.',
    },
  ]
}

function checkSendAt(send_at: string, now: number): Detail[] {
  const at = parseStrictDateTime(send_at)
  if (at === null || Date.parse(at) - now <= limits.send_at_ahead_ms_max) return []
  return [{ param: 'send_at', code: 'invalid_value', message: '`send_at` may lie at most 35 days ahead.' }]
}

async function checkReplyTo({ platform }: CheckDeps, tenant: Tenant, id: string): Promise<void> {
  const found = isId('msg', id) ? await findMessage(platform.pool, tenant, id) : null
  if (found === null) throw missing('message', id, 'reply_to')
}

function unsupported(channel: ChannelRow, type: string): Problem {
  return new Problem(
    'unsupported_message_type',
    `The channel ${channel.id} cannot send ${JSON.stringify(type.slice(0, 80))}. Its capabilities are ${channel.capabilities.join(', ')}.${didYouMean(type, channel.capabilities)}`,
    { param: 'type' },
  )
}

/** What is wrong with a recipient on a channel of this type (behaviour: messages 4). */
export function checkRecipient(channel_type: string, to: string, param = 'to'): Detail[] {
  if (channel_type === 'telegram' && zeroPadded.test(to)) {
    // Telegram may read it as the chat without them, whose opt-out it would pass
    return [
      {
        param,
        code: 'invalid_value',
        message: `\`${param}\` must be the id of a chat without zeros before it, as in 123456789.`,
      },
    ]
  }
  if (!isPhoneChannel(channel_type) || e164.test(to) || (channel_type === 'whatsapp' && businessScopedId.test(to)))
    return []
  const message = `\`${param}\` must be an E.164 phone number: a plus sign, the country code and the number, as in +4915112345678.`
  return [{ param, code: 'invalid_format', message }]
}

/** What refuses a message whatever the database holds, or null. */
function knownBeforehand(
  { channels }: CheckDeps,
  channel: ChannelRow,
  body: Body,
  content: unknown,
  template: Problem | null,
): Problem | null {
  const refusal = channels
    .adapterOf(channel)
    ?.validate?.({ to: body.to, type: body.type, content, settings: channel.settings })
  if (refusal !== null && refusal !== undefined)
    return new Problem(refusal.code, refusal.message, refusal.param === undefined ? {} : { param: refusal.param })
  if (template !== null) return template
  return isUp(channel)
    ? null
    : new Problem('channel_not_connected', `The channel ${channel.id} is ${whyDown(channel)}, then send again.`)
}

/** What keeps a channel from sending, and what to do about it. */
function whyDown({ id, status, connection_status }: ChannelRow): string {
  if (status === 'disabled') return `disabled. Set its \`status\` to \`active\` with PATCH /v1/channels/${id}`
  if (status !== 'active') return `${status}. Wait until it is active`
  return `${connection_status}. Wait until its link stands again, or try it with POST /v1/channels/${id}/reconnect`
}
