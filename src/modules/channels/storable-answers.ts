/** Makes what providers say fit to be kept, once, where adapters are made: texts that PostgreSQL stores and of a bounded length, and ids that its indexes hold. */
import { createHash } from 'node:crypto'
import { isObject } from '../../lib/json-fields.ts'
import type {
  StatusQueryResult,
  FoundMessage,
  Outcome,
  OnPartAccepted,
  CallbackItem,
} from '../../providers/provider.ts'

/** Lengths in UTF-16 units. */
const idLengthMax = 255
const codeLengthMax = 100
const sentenceLengthMax = 1000

/**
 * The id as it is kept: what is longer than 255 UTF-16 units, or no text that can be stored, becomes `sha256:` and its hash. The same id becomes the same
 * wherever it is told, so that a receipt finds its message.
 */
export function storableId(id: string): string {
  if (id.length <= idLengthMax && id.isWellFormed() && !id.includes('\0')) return id
  // the units themselves: UTF-8 has one form for all halves of pairs
  return `sha256:${createHash('sha256').update(Buffer.from(id, 'utf16le')).digest('hex')}`
}

/** The text without NUL characters and halves of surrogate pairs, and of `length_max` at most. */
export function storableText(text: string, length_max: number): string {
  const bounded = text.length > length_max ? `${text.slice(0, length_max - 1)}…` : text
  return bounded.toWellFormed().replaceAll('\0', '\uFFFD')
}

/** Where a provider's own words are no text, it is as if it had said nothing. */
const nothingSaid = 'The provider gives no reason that can be read.'

/** The outcome with ids, codes and sentences that can be stored. */
export function storableOutcome(outcome: Outcome): Outcome {
  if (outcome.kind === 'accepted') {
    const { later_items: reports, ...accepted } = outcome
    const [first, ...others] = outcome.provider_ids
    const provider_ids = [storableId(first), ...others.map(storableId)] as const
    if (reports === undefined) return { ...accepted, provider_ids: [...provider_ids] }
    return {
      ...accepted,
      provider_ids: [...provider_ids],
      later_items: reports.map((one) => ({ ...one, item: storableReport(one.item) })),
    }
  }
  const taken = outcome.provider_ids === undefined ? {} : { provider_ids: outcome.provider_ids.map(storableId) }
  if (outcome.kind === 'unknown') return { ...outcome, message: sentenceOf(outcome.message), ...taken }
  const said = { ...outcome, ...saidOf(outcome), ...taken }
  return said.kind === 'throttled' && said.if_lasting !== undefined
    ? { ...said, if_lasting: { ...said.if_lasting, ...saidOf(said.if_lasting) } }
    : said
}

/** What a provider told when it was asked, with ids, codes and sentences that can be stored. */
export function storableTold(told: StatusQueryResult): StatusQueryResult {
  if (told.kind === 'found') return { ...told, ...storableFound(told) }
  if (told.kind === 'candidates') {
    const [first, ...others] = told.found
    return { kind: 'candidates', found: [storableFound(first), ...others.map(storableFound)] }
  }
  if (told.kind === 'refused') return { ...told, ...saidOf(told) }
  return told.kind === 'no_answer' || told.kind === 'throttled' ? { ...told, message: sentenceOf(told.message) } : told
}

function storableFound({ provider_ids, receipt }: FoundMessage): FoundMessage {
  const [first, ...others] = provider_ids
  return {
    provider_ids: [storableId(first), ...others.map(storableId)],
    ...(receipt === undefined ? {} : { receipt: storableReport(receipt) }),
  }
}

const saidOf = ({ message, provider_code }: { readonly message: string; readonly provider_code: string | null }) => ({
  message: sentenceOf(message),
  provider_code: codeOf(provider_code),
})

const sentenceOf = (said: unknown): string =>
  typeof said === 'string' && said.trim() !== '' ? storableText(said, sentenceLengthMax) : nothingSaid

function codeOf(told: unknown): string | null {
  if (typeof told === 'number') return String(told)
  return typeof told === 'string' ? storableText(told, codeLengthMax) : null
}

/** Tells of parts by ids that can be stored. */
export const storablePart =
  (took: OnPartAccepted): OnPartAccepted =>
  (provider_ids) =>
    took(provider_ids.map(storableId))

/** The report with ids by which it finds its message, and with a failure in words that can be stored; what people wrote is judged where reports are read. */
export function storableReport<T extends CallbackItem>(report: T): T {
  const known = { ...report, provider_id: idOf(report.provider_id) }
  if (known.kind === 'connection_status') return { ...known, message: sentenceOf(known.message) }
  if (known.kind === 'inbound') return { ...known, reply_to: idOf(known.reply_to) }
  if (known.kind !== 'delivery_receipt') return known
  const others = Array.isArray(known.also_known_as) ? { also_known_as: known.also_known_as.map(idOf) } : {}
  // an error that is none is read as an unknown one
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
