/** The sandbox of test mode, where magic recipients cause each outcome (behaviour: test-mode 2). */
import { Type } from 'typebox'
import type { ErrorCode } from '../../api/errors.ts'
import { capabilitiesOf } from '../../api/resources/channel.ts'
import type {
  InboundMessage,
  Outcome,
  OutboundMessage,
  Provider,
  DeliveryReceipt,
  TemplateRecord,
} from '../provider.ts'

type FollowUp =
  | { readonly after_ms: number; readonly transition: 'deliver' | 'open' | 'fail' }
  | { readonly after_ms: number; readonly reply: true }

const followUps: Readonly<Record<string, readonly FollowUp[]>> = {
  '0006': [{ after_ms: 0, transition: 'deliver' }],
  '0010': [
    { after_ms: 0, transition: 'deliver' },
    { after_ms: 40, transition: 'open' },
  ],
  '0005': [],
  '0002': [{ after_ms: 40, transition: 'fail' }],
  '0007': [{ after_ms: 5000, transition: 'deliver' }],
  '0008': [
    { after_ms: 0, transition: 'deliver' },
    { after_ms: 40, transition: 'open' },
    { after_ms: 80, reply: true },
  ],
  '0014': [
    { after_ms: 0, transition: 'open' },
    { after_ms: 40, transition: 'deliver' },
  ],
}

const refusals: Readonly<Record<string, { code: ErrorCode; message: string }>> = {
  '0003': {
    code: 'policy_violation',
    message:
      'The sandbox recipient +15005550003 always meets the channel policy. Send to +15005550006 to see a delivery.',
  },
  '0004': {
    code: 'recipient_blocked',
    message:
      'The sandbox recipient +15005550004 has always opted out. Do not retry; send to +15005550006 to see a delivery.',
  },
  '0009': {
    code: 'upstream_rejected',
    message: 'The sandbox provider always refuses messages to +15005550009. Send to +15005550006 to see a delivery.',
  },
  '0013': {
    code: 'channel_not_connected',
    message:
      'For +15005550013 the sandbox channel always counts as disconnected. Send to +15005550006 to see a delivery.',
  },
  '0011': {
    code: 'insufficient_balance',
    message:
      'For +15005550011 the sandbox wallet is always empty; nothing was created. Send to +15005550006 to see a delivery.',
  },
  '0012': {
    code: 'upstream_unavailable',
    message:
      'For +15005550012 the sandbox provider is always unreachable; nothing was created. Send to +15005550006 to see a delivery.',
  },
}

const magic = (to: string): string => /^\+?1500555(\d{4})$/.exec(to)?.[1] ?? '0006'

function send(message: OutboundMessage): Outcome {
  const digits = magic(message.to)
  if (digits === '0001') {
    return {
      kind: 'refused',
      code: 'provider_error',
      provider_code: 'sandbox_rejected',
      message: 'The sandbox provider rejected the message.',
    }
  }
  const provider_id = `sandbox-${message.id}`
  const steps = followUps[digits] ?? followUps['0006']!
  return {
    kind: 'accepted',
    provider_ids: [provider_id],
    later_items: steps.map((step) => ({ after_ms: step.after_ms, item: itemOf(step, message, provider_id) })),
  }
}

function itemOf(step: FollowUp, message: OutboundMessage, provider_id: string): DeliveryReceipt | InboundMessage {
  if ('reply' in step) {
    return {
      kind: 'inbound',
      provider_id: `${provider_id}-reply`,
      from: message.to,
      profile_name: null,
      type: 'text',
      content: { body: `Reply to: ${textOf(message)}` },
      reply_to: provider_id,
    }
  }
  if (step.transition !== 'fail') return { kind: 'delivery_receipt', provider_id, transition: step.transition }
  return {
    kind: 'delivery_receipt',
    provider_id,
    transition: 'fail',
    error: {
      code: 'provider_error',
      message: 'The sandbox provider could not deliver the message.',
      provider_code: 'sandbox_undeliverable',
    },
  }
}

function textOf(message: OutboundMessage): string {
  const content = message.content as { body?: string | { text?: string }; name?: string }
  if (typeof content.body === 'string') return content.body
  return content.body?.text ?? content.name ?? message.type
}

const recipients: readonly (readonly [string, string])[] = [
  ['+15005550006, and any other', 'sent, delivered'],
  ['+15005550010', 'sent, delivered, read'],
  ['+15005550005', 'sent, and no receipt ever'],
  ['+15005550001', 'failed before it is sent'],
  ['+15005550002', 'sent, then failed'],
  ['+15005550007', 'sent, delivered five seconds later'],
  ['+15005550008', 'sent, delivered, read, then an inbound reply'],
  ['+15005550014', 'receipts out of order'],
  ['+15005550003', '422 policy_violation'],
  ['+15005550004', '422 recipient_blocked'],
  ['+15005550009', '422 upstream_rejected'],
  ['+15005550013', '422 channel_not_connected'],
  ['+15005550011', '402 insufficient_balance'],
  ['+15005550012', '503 upstream_unavailable'],
]

const sampleTime = '2026-01-01T00:00:00.000Z'
const sample = (
  name: string,
  status: string,
  body: string,
  category = 'UTILITY',
  rejected_reason: string | null = null,
): TemplateRecord => ({
  provider_id: name,
  name,
  language: 'en_US',
  category,
  status,
  parameter_format: 'POSITIONAL',
  components: [{ type: 'BODY', text: body }],
  rejected_reason,
  updated_at: sampleTime,
})

const templates: readonly TemplateRecord[] = [
  sample('hello_world', 'APPROVED', 'Hello {{1}}'),
  sample('order_update', 'APPROVED', 'Your order {{1}} is now {{2}}.'),
  sample('appointment_reminder', 'PENDING', 'See you on {{1}} at {{2}}.'),
  sample('flash_sale', 'REJECTED', 'Only today: {{1}} off!', 'MARKETING', 'PROMOTIONAL'),
  sample('winter_offer', 'PAUSED', 'Winter offer: {{1}}', 'MARKETING'),
]

export const sandbox: Provider = {
  name: 'sandbox',
  title: 'Sandbox',
  about: 'Replaces a provider in test mode; nothing leaves the machine.',
  types: ['whatsapp', 'sms', 'telegram'],
  offered: 'never',
  credentials: Type.Object({}),
  identifier: 'from_provider',
  capabilities: (type) => capabilitiesOf[type],
  test_mode: {
    channels: {
      whatsapp: { name: 'Sandbox WhatsApp', identifier: '+15005550000', templates },
      sms: { name: 'Sandbox SMS', identifier: '+15005550099', templates: [] },
      telegram: { name: 'Sandbox Telegram', identifier: 'posthorn_sandbox_bot', templates: [] },
    },
    recipients,
  },
  adapter: () => ({
    instant: true,
    send: async (message) => send(message),
    validate: ({ to }) => refusals[magic(to)] ?? null,
  }),
}
