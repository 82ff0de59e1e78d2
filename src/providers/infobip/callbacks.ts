/** Infobip callbacks: delivery reports and inbound messages, unsigned and verified by the token in the address. */
import { isObject, parsedObject, type Fields } from '../../lib/json.ts'
import type {
  Callback,
  Connection,
  InboundMessage,
  DeliveryReceipt,
  CallbackResult,
  CallbackItem,
} from '../provider.ts'
import { hasToken, inboundText } from '../sms-callbacks.ts'
import { statusOf } from './api.ts'
import { failure, transitionOf } from './codes.ts'

/** Infobip's default is 100; accounts can raise it. */
const resultsMax = 10_000

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

export function receiveCallback(callback: Callback, connection: Connection): CallbackResult | null {
  if (!hasToken(callback, connection)) return null
  const results = parsedObject(callback.body)?.['results']
  if (!Array.isArray(results)) return { items: [], ignored: 'a callback without results' }
  const items = results.slice(0, resultsMax).map((result) => (isObject(result) ? itemsOf(result, connection) : []))
  const skipped = items.filter((one) => one.length === 0).length + Math.max(results.length - resultsMax, 0)
  return {
    items: items.flat(),
    ...(skipped === 0
      ? {}
      : {
          ignored: `${skipped} of ${results.length} results: for other numbers, without an id, or with a status that changes nothing`,
        }),
  }
}

function itemsOf(result: Fields, connection: Connection): CallbackItem[] {
  const provider_id = textOf(result['messageId'])
  if (provider_id === '' || provider_id.length > 200) return []
  return result['status'] === undefined ? inboundOf(provider_id, result, connection) : receiptOf(provider_id, result)
}

function receiptOf(provider_id: string, result: Fields): DeliveryReceipt[] {
  const status = statusOf(result['status'])
  const transition = status === null ? null : transitionOf(status)
  if (status === null || transition === null) return []
  return [
    {
      kind: 'delivery_receipt',
      provider_id,
      message_id: provider_id,
      transition,
      ...(transition === 'fail' ? { error: failure(status, statusOf(result['error'])) } : {}),
    },
  ]
}

function inboundOf(provider_id: string, result: Fields, connection: Connection): InboundMessage[] {
  const [from, to, text] = [textOf(result['from']), textOf(result['to']), result['text']]
  const message = inboundText(
    { provider_id, from, to, text: typeof text === 'string' ? text : null, provider_type: 'binary' },
    connection,
  )
  return message === null ? [] : [message]
}
