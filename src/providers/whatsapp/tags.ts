/** What hand-overs carry and receipts give back (`biz_opaque_callback_data`): the message's id, and which part of it where it becomes several messages at WhatsApp. */
import type { DeliveryReceipt } from '../provider.ts'

type Named = Pick<DeliveryReceipt, 'message_id' | 'part'>

const written = /^(msg_[0-9a-z]{26})(?:\/([1-9]\d?)\/([1-9]\d?))?$/

export const tagOf = (message_id: string, { number, total }: NonNullable<DeliveryReceipt['part']>): string =>
  total === 1 ? message_id : `${message_id}/${number}/${total}`

/** Empty where it is none of ours. */
export function namedBy(tag: string | undefined): Named {
  const [, message_id, number, total] = written.exec(tag ?? '') ?? []
  if (message_id === undefined) return {}
  if (number === undefined) return { message_id }
  const part = { number: Number(number), total: Number(total) }
  return part.total > 1 && part.number <= part.total ? { message_id, part } : {}
}
