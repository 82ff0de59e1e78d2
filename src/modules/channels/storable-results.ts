/** Makes results of adapters storable: valid texts of bounded length, and IDs short enough for an index. */
import { createHash } from 'node:crypto'
import { isObject } from '../../lib/json.ts'
import type {
  StatusQueryResult,
  FoundMessage,
  Outcome,
  OnPartAccepted,
  CallbackItem,
} from '../../providers/provider.ts'

/** In UTF-16 units. */
const idLengthMax = 255
const codeLengthMax = 100
const sentenceLengthMax = 1000

/**
 * Hashes an ID that is too long or invalid. The hash is the same everywhere, so that delivery receipts find their
 * message.
 */
export function storableId(id: string): string {
  if (id.length <= idLengthMax && id.isWellFormed() && !id.includes('\0')) return id
  // UTF-16, because UTF-8 would map all lone surrogates to the same bytes
  return `sha256:${createHash('sha256').update(Buffer.from(id, 'utf16le')).digest('hex')}`
}

export function storableText(text: string, length_max: number): string {
  const bounded = text.length > length_max ? `${text.slice(0, length_max - 1)}…` : text
  return bounded.toWellFormed().replaceAll('\0', '\uFFFD')
}

const noReason = 'The provider gives no readable reason.'

export function storableOutcome(outcome: Outcome): Outcome {
  if (outcome.kind === 'accepted') {
    const { later_items: reports, ...accepted } = outcome
    const [first, ...others] = outcome.provider_ids
    const provider_ids = [storableId(first), ...others.map(storableId)] as const
    if (reports === undefined) return { ...accepted, provider_ids: [...provider_ids] }
    return {
      ...accepted,
      provider_ids: [...provider_ids],
      later_items: reports.map((one) => ({ ...one, item: storableItem(one.item) })),
    }
  }
  const accepted = outcome.provider_ids === undefined ? {} : { provider_ids: outcome.provider_ids.map(storableId) }
  if (outcome.kind === 'unknown') return { ...outcome, message: sentenceOf(outcome.message), ...accepted }
  const texts = { ...outcome, ...storableTexts(outcome), ...accepted }
  return texts.kind === 'throttled' && texts.if_lasting !== undefined
    ? { ...texts, if_lasting: { ...texts.if_lasting, ...storableTexts(texts.if_lasting) } }
    : texts
}

export function storableQueryResult(result: StatusQueryResult): StatusQueryResult {
  if (result.kind === 'found') return { ...result, ...storableFound(result) }
  if (result.kind === 'candidates') {
    const [first, ...others] = result.found
    return { kind: 'candidates', found: [storableFound(first), ...others.map(storableFound)] }
  }
  if (result.kind === 'refused') return { ...result, ...storableTexts(result) }
  return result.kind === 'no_answer' || result.kind === 'throttled'
    ? { ...result, message: sentenceOf(result.message) }
    : result
}

function storableFound({ provider_ids, receipt }: FoundMessage): FoundMessage {
  const [first, ...others] = provider_ids
  return {
    provider_ids: [storableId(first), ...others.map(storableId)],
    ...(receipt === undefined ? {} : { receipt: storableItem(receipt) }),
  }
}

const storableTexts = ({
  message,
  provider_code,
}: {
  readonly message: string
  readonly provider_code: string | null
}) => ({
  message: sentenceOf(message),
  provider_code: codeOf(provider_code),
})

const sentenceOf = (text: unknown): string =>
  typeof text === 'string' && text.trim() !== '' ? storableText(text, sentenceLengthMax) : noReason

function codeOf(code: unknown): string | null {
  if (typeof code === 'number') return String(code)
  return typeof code === 'string' ? storableText(code, codeLengthMax) : null
}

export const storableOnPartAccepted =
  (onPartAccepted: OnPartAccepted): OnPartAccepted =>
  (provider_ids) =>
    onPartAccepted(provider_ids.map(storableId))

export function storableItem<T extends CallbackItem>(item: T): T {
  const known = { ...item, provider_id: idOf(item.provider_id) }
  if (known.kind === 'connection_status') return { ...known, message: sentenceOf(known.message) }
  if (known.kind === 'inbound') return { ...known, reply_to: idOf(known.reply_to) }
  if (known.kind !== 'delivery_receipt') return known
  const others = Array.isArray(known.also_known_as) ? { also_known_as: known.also_known_as.map(idOf) } : {}
  const error = isObject(known.error) ? { error: { ...known.error, ...boundedWords(known.error) } } : {}
  return { ...known, ...others, ...error }
}

const idOf = <T>(id: T): T => (typeof id === 'string' ? (storableId(id) as T) : id)

function boundedWords({
  message,
  provider_code,
}: {
  readonly message?: unknown
  readonly provider_code?: unknown
}): object {
  return {
    ...(typeof message === 'string' ? { message: storableText(message, sentenceLengthMax) } : {}),
    ...(typeof provider_code === 'string' ? { provider_code: storableText(provider_code, codeLengthMax) } : {}),
  }
}
