/** Reports of providers made fit to be stored and applied, whatever a provider wrote: reports are applied together, so that one that cannot be would hold up all others. */
import { limits } from '../../../contract/limits.ts'
import { inboundTypes, messageTypes } from '../../../contract/resources/channel.ts'
import { messageErrorCodes } from '../../../contract/resources/message.ts'
import type { InboundMessage, Receipt, Report } from '../../channels/adapter.ts'

const knownTypes: ReadonlySet<string> = new Set([...messageTypes, ...inboundTypes])

/** The report with texts that can be kept and with every field; content that is of no known type becomes `unsupported` (behaviour: messages 10.2). */
export function sanitiseReport(report: Report): Report {
  const sane = sanitiseValue(report, 1) as Report
  if (sane.kind === 'receipt') return 'error' in sane ? { ...sane, error: sanitiseError(sane.error) } : sane
  if (sane.kind !== 'inbound') return sane
  const { type } = sane
  const content = sanitiseValue((report as InboundMessage).content, 1)
  const readable = knownTypes.has(type) && typeof content === 'object' && content !== null
  return {
    ...sane,
    profile_name: sane.profile_name ?? null,
    reply_to: sane.reply_to ?? null,
    type: readable ? type : 'unsupported',
    content: readable ? content : { provider_type: type },
  }
}

/** What a provider says of a failure, in the fields and words of the API. */
function sanitiseError(error: unknown): NonNullable<Receipt['error']> {
  const { code, message, provider_code } = (typeof error === 'object' && error !== null ? error : {}) as Record<string, unknown>
  return {
    code: messageErrorCodes.find((known) => known === code) ?? 'provider_error',
    message: typeof message === 'string' ? message : 'The provider could not deliver the message.',
    provider_code: typeof provider_code === 'string' || typeof provider_code === 'number' ? String(provider_code) : null,
  }
}

/** Without NUL characters, halves of surrogate pairs, infinite numbers and what is nested too deeply. */
function sanitiseValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.toWellFormed().replaceAll('\0', '\uFFFD')
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value !== 'object' || value === null) return value
  if (depth > limits.json_depth) return null
  if (Array.isArray(value)) return value.map((item) => sanitiseValue(item, depth + 1))
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [sanitiseValue(key, depth), sanitiseValue(field, depth + 1)]))
}
