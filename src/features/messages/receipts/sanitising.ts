/** Reports of providers made fit to be stored and applied, whatever a provider wrote: reports are applied together, so that one that cannot be would hold up all others. */
import { limits } from '../../../contract/limits.ts'
import { inboundTypes, messageTypes } from '../../../contract/resources/channel.ts'
import { messageErrorCodes } from '../../../contract/resources/message.ts'
import type { InboundMessage, Receipt, Report } from '../../channels/adapter.ts'

const knownTypes: ReadonlySet<string> = new Set([...messageTypes, ...inboundTypes])

/** The report with texts that can be kept and with every field; content that is of no known type becomes `unsupported` (decisions 4). */
export function soundReport(report: Report): Report {
  const sound = soundValue(report, 1) as Report
  if (sound.kind === 'receipt') return 'error' in sound ? { ...sound, error: soundError(sound.error) } : sound
  const { type } = sound
  const content = soundValue((report as InboundMessage).content, 1)
  const readable = knownTypes.has(type) && typeof content === 'object' && content !== null
  return {
    ...sound,
    profile_name: sound.profile_name ?? null,
    reply_to: sound.reply_to ?? null,
    type: readable ? type : 'unsupported',
    content: readable ? content : { provider_type: type },
  }
}

/** What a provider says of a failure, in the fields and words of the interface. */
function soundError(error: unknown): NonNullable<Receipt['error']> {
  const { code, message, provider_code } = (typeof error === 'object' && error !== null ? error : {}) as Record<string, unknown>
  return {
    code: messageErrorCodes.find((known) => known === code) ?? 'provider_error',
    message: typeof message === 'string' ? message : 'The provider could not deliver the message.',
    provider_code: typeof provider_code === 'string' || typeof provider_code === 'number' ? String(provider_code) : null,
  }
}

/** Without NUL characters, halves of surrogate pairs, infinite numbers and what is nested too deeply. */
function soundValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.toWellFormed().replaceAll('\0', '\uFFFD')
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value !== 'object' || value === null) return value
  if (depth > limits.json_depth) return null
  if (Array.isArray(value)) return value.map((item) => soundValue(item, depth + 1))
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [soundValue(key, depth), soundValue(field, depth + 1)]))
}
