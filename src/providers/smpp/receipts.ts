/** Delivery receipts: as text, as most SMSCs write them (SMPP 3.4, appendix B), and as optional parameters. */
import type { DeliveryReceipt } from '../provider.ts'
import { bytesOf, numberOf, textOf, type Pdu } from './pdu.ts'

/** How receipts write the ids that hand-overs were answered with. */
export type ReceiptIds = 'auto' | 'hex' | 'decimal'

/** What the SMSC says became of a message, a line each; what is not listed changes nothing. */
const states: Readonly<
  Record<string, { readonly transition: 'accept' | 'deliver' | 'fail' | null; readonly message: string }>
> = {
  SCHEDULED: { transition: 'accept', message: 'Not begun yet.' },
  ENROUTE: { transition: 'accept', message: 'On its way.' },
  BUFFERED: { transition: 'accept', message: 'Kept until the recipient can be reached.' },
  ACCEPTD: { transition: 'accept', message: 'Accepted on behalf of the recipient.' },
  DELIVRD: { transition: 'deliver', message: 'Delivered.' },
  EXPIRED: { transition: 'fail', message: 'The operator could not deliver the message within its validity (EXPIRED).' },
  DELETED: { transition: 'fail', message: 'The operator deleted the message (DELETED).' },
  UNDELIV: { transition: 'fail', message: 'The message cannot be delivered (UNDELIV).' },
  REJECTD: { transition: 'fail', message: 'The operator rejected the message (REJECTD).' },
  SKIPPED: { transition: 'fail', message: 'The operator left the message out (SKIPPED).' },
  // the SMSC does not know: the message stays as it is
  UNKNOWN: { transition: null, message: 'Unknown.' },
}

/** `message_state` (section 5.2.28, and 4.7.15 of version 5.0) by the words of the text. */
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

/** A receipt as it came: by which id, and what it says. */
export interface ReceiptTold {
  readonly id: string
  readonly state: string
  readonly error: string | null
}

/** SMPP 3.4 lets ids have 64 characters; SMSCs write longer ones, and zeros before them. What is longer than this is none. */
export const idLengthMax = 255

/** What a receipt says; null where it names no message. The optional parameters go before the text. */
export function readReceipt(pdu: Pdu, text: string): ReceiptTold | null {
  const id = textOf(pdu, 'receipted_message_id').trim() || (/\bid:\s*(?!sub:)(\S+)/i.exec(text)?.[1] ?? '')
  if (id === '' || id.length > idLengthMax) return null
  const stated = typeof pdu['message_state'] === 'number' ? stateNames[numberOf(pdu, 'message_state')] : undefined
  const state = stated ?? wordOf(/\bstat(?:us)?:\s*([A-Za-z]+)/i.exec(text)?.[1] ?? '')
  const network = bytesOf(pdu, 'network_error_code')
  const error =
    network.length === 3
      ? String(network.readUInt16BE(1)).padStart(3, '0')
      : (/\berr(?:or)?:\s*([0-9A-Za-z]{1,10})/i.exec(text)?.[1] ?? null)
  return { id, state, error }
}

/** Some write DELIVERED, UNDELIVERABLE, ACCEPTED or REJECTED in full. */
function wordOf(told: string): string {
  const word = told.toUpperCase()
  if (states[word] !== undefined) return word
  return Object.keys(states).find((state) => word.length > 7 && word.startsWith(state.slice(0, 5))) ?? word
}

/** One code for whatever keeps a message from its recipient; which state it was says the sentence. */
const undelivered = 'UNDELIV'

/** The receipt of the message known by `provider_id`; null where it changes nothing. */
export function receiptOf(
  { state, error }: ReceiptTold,
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

/** An id in one way of writing it: a number without zeros before it, in small letters. Ids that are no numbers stay as they are. */
export const plainId = (id: string): string => (/^[0-9a-f]+$/i.test(id) ? id.toLowerCase().replace(/^0+(?=.)/, '') : id)

const toDecimal = (id: string): string | null => (/^[0-9a-f]{1,32}$/.test(id) ? BigInt(`0x${id}`).toString(10) : null)
const toHex = (id: string): string | null => (/^[0-9]{1,39}$/.test(id) ? BigInt(id).toString(16) : null)

/**
 * By which ids a hand-over may have been answered whose receipt names this one, the likeliest first. `decimal`: receipts write decimally what the answers
 * wrote in hex; `hex`: the other way round; `auto`: as it is, or either.
 */
export function answeredIds(receipt_id: string, notation: ReceiptIds): [string, ...string[]] {
  const id = plainId(receipt_id)
  const [hex, decimal] = [toHex(id) ?? id, toDecimal(id) ?? id]
  const inOrder = { auto: [id, hex, decimal], decimal: [hex, id], hex: [decimal, id] }[notation]
  return [...new Set(inOrder)] as [string, ...string[]]
}
