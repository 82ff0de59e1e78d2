/** Reports of providers made fit to be stored and applied, whatever a provider wrote: reports are applied together, so that one that cannot be would hold up all others. */
import { limits } from '../../../api/limits.ts'
import { inboundTypes, messageTypes } from '../../../api/resources/channel.ts'
import { messageErrorCodes } from '../../../api/resources/message.ts'
import { storable } from '../../../lib/storable.ts'
import { providerCodeOf } from '../provider-code.ts'
import { fittingContent } from './fitting-content.ts'
import type { InboundMessage, DeliveryReceipt, CallbackItem } from '../../../providers/provider.ts'

const knownTypes: ReadonlySet<string> = new Set([...messageTypes, ...inboundTypes])

/** The report with texts that can be kept and with every field; content that is of no known type, or does not have its shape, becomes `unsupported` (behaviour: messages 10.2). */
export function sanitiseReport(report: CallbackItem): CallbackItem {
  const sane = storable(report, limits.json_depth) as CallbackItem
  if (sane.kind === 'delivery_receipt') return 'error' in sane ? { ...sane, error: sanitiseError(sane.error) } : sane
  if (sane.kind !== 'inbound') return sane
  const { type } = sane
  const told = { ...sane, profile_name: sane.profile_name ?? null, reply_to: sane.reply_to ?? null }
  const content = knownTypes.has(type)
    ? fittingContent(type, storable((report as InboundMessage).content, limits.json_depth))
    : null
  if (content !== null) return { ...told, content }
  const { media: _, part: __, button_index: ___, ...unreadable } = told
  return { ...unreadable, type: 'unsupported', content: { provider_type: type } }
}

/** What a provider says of a failure, in the fields and words of the API. */
function sanitiseError(error: unknown): NonNullable<DeliveryReceipt['error']> {
  const { code, message, provider_code } = (typeof error === 'object' && error !== null ? error : {}) as Record<
    string,
    unknown
  >
  return {
    code: messageErrorCodes.find((known) => known === code) ?? 'provider_error',
    message: typeof message === 'string' ? message : 'The provider could not deliver the message.',
    provider_code: providerCodeOf(provider_code),
  }
}
