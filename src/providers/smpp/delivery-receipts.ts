/** Delivery receipts, as text (SMPP 3.4, appendix B) or optional parameters. */
import type { DeliveryReceipt } from '../provider.ts'
import { bytesOf, numberOf, textOf, type Pdu } from './pdu.ts'

export type ReceiptIds = 'auto' | 'hex' | 'decimal'

const states: Readonly<
  Record<string, { readonly transition: 'accept' | 'deliver' | 'fail' | null; readonly message: string }>
> = {
  SCHEDULED: { transition: 'accept', message: 'Scheduled.' },
  ENROUTE: { transition: 'accept', message: 'On its way.' },
  BUFFERED: { transition: 'accept', message: 'Stored until the recipient can be reached.' },
  ACCEPTD: { transition: 'accept', message: 'Accepted on behalf of the recipient.' },
  DELIVRD: { transition: 'deliver', message: 'Delivered.' },
  EXPIRED: {
    transition: 'fail',
    message: 'The operator could not deliver the message within its validity period (EXPIRED).',
  },
  DELETED: { transition: 'fail', message: 'The operator deleted the message (DELETED).' },
  UNDELIV: { transition: 'fail', message: 'The message cannot be delivered (UNDELIV).' },
  REJECTD: { transition: 'fail', message: 'The operator rejected the message (REJECTD).' },
  SKIPPED: { transition: 'fail', message: 'The operator skipped the message (SKIPPED).' },
  UNKNOWN: { transition: null, message: 'Unknown.' },
}

/** `message_state` (section 5.2.28, and 4.7.15 of version 5.0). */
const stateNames: Readonly<Record<number, string>> = {
  0: 'SCHEDULED',
  1: 'ENROUTE',
  2: 'DELIVRD',
  3: 'EXPIRED',
  4: 'DELETED',
  5: 'UNDELIV',
  6: 'ACCEPTD',
  7: 'UNKNOWN',
  8: 'REJECTD',
  9: 'SKIPPED',
}

export interface RawReceipt {
  readonly id: string
  readonly state: string
  readonly error: string | null
}

/** SMPP 3.4 allows 64 characters; SMSCs write longer ones. */
export const idLengthMax = 255

/** null if it has no message id. Optional parameters take precedence over the text. */
export function readReceipt(pdu: Pdu, text: string): RawReceipt | null {
  const id = textOf(pdu, 'receipted_message_id').trim() || (/\bid:\s*(?!sub:)(\S+)/i.exec(text)?.[1] ?? '')
  if (id === '' || id.length > idLengthMax) return null
  const stated = typeof pdu['message_state'] === 'number' ? stateNames[numberOf(pdu, 'message_state')] : undefined
  const state = stated ?? stateOf(/\bstat(?:us)?:\s*([A-Za-z]+)/i.exec(text)?.[1] ?? '')
  const network = bytesOf(pdu, 'network_error_code')
  const error =
    network.length === 3
      ? String(network.readUInt16BE(1)).padStart(3, '0')
      : (/\berr(?:or)?:\s*([0-9A-Za-z]{1,10})/i.exec(text)?.[1] ?? null)
  return { id, state, error }
}

/** Some SMSCs write DELIVERED, UNDELIVERABLE, ACCEPTED or REJECTED in full. */
function stateOf(text: string): string {
  const word = text.toUpperCase()
  if (states[word] !== undefined) return word
  return Object.keys(states).find((state) => word.length > 7 && word.startsWith(state.slice(0, 5))) ?? word
}

const undelivered = 'UNDELIV'

/** null if it changes nothing. */
export function receiptOf(
  { state, error }: RawReceipt,
  ids: Pick<DeliveryReceipt, 'provider_id' | 'also_known_as' | 'addresses'>,
): DeliveryReceipt | null {
  const known = states[state]
  if (known === undefined || known.transition === null) return null
  const receipt = { kind: 'delivery_receipt' as const, ...ids, transition: known.transition }
  if (known.transition !== 'fail') return receipt
  return {
    ...receipt,
    error: {
      code: 'provider_error',
      message: known.message,
      provider_code: error === null ? undelivered : `${undelivered}:${error}`,
    },
  }
}

/** Hexadecimal and decimal ids: lower case, no leading zeros. */
export const normalizedId = (id: string): string =>
  /^[0-9a-f]+$/i.test(id) ? id.toLowerCase().replace(/^0+(?=.)/, '') : id

const toDecimal = (id: string): string | null => (/^[0-9a-f]{1,32}$/.test(id) ? BigInt(`0x${id}`).toString(10) : null)
const toHex = (id: string): string | null => (/^[0-9]{1,39}$/.test(id) ? BigInt(id).toString(16) : null)

/** The most likely first. `decimal`: receipts are decimal and responses hex; `hex`: the reverse. */
export function submittedIds(receipt_id: string, notation: ReceiptIds): [string, ...string[]] {
  const id = normalizedId(receipt_id)
  const [hex, decimal] = [toHex(id) ?? id, toDecimal(id) ?? id]
  const inOrder = { auto: [id, hex, decimal], decimal: [hex, id], hex: [decimal, id] }[notation]
  return [...new Set(inOrder)] as [string, ...string[]]
}
