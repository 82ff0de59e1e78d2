/** Tries credentials: whether the account stands, and whether the sender is one of its numbers. */
import type { HttpAnswer } from '../../lib/http-client.ts'
import type { Connection, ConnectOutcome, ProviderTools } from '../provider.ts'
import { callApi, credentialsOf, fieldsOf } from './api.ts'

export async function connect(
  tools: ProviderTools,
  connection: Connection,
  signal: AbortSignal,
): Promise<ConnectOutcome> {
  const answer = await callApi(tools, connection, '.json', signal)
  const account = fieldsOf(answer)
  const failed = failureOf(answer)
  if (failed !== null) return failed
  if (account?.['sid'] !== credentialsOf(connection).account_sid)
    return { kind: 'unavailable', message: 'What answered does not speak as Twilio does.' }
  // where nothing is told of it, the sends will tell
  if ((account['status'] ?? 'active') !== 'active')
    return {
      kind: 'refused',
      message: `The Twilio account is ${String(account['status']).slice(0, 40)}. Look into the Twilio console for the reason.`,
    }
  return await checkSender(tools, connection, signal)
}

function failureOf(answer: HttpAnswer): ConnectOutcome | null {
  if (answer.kind !== 'answer') return { kind: 'unavailable', message: answer.message }
  const { status } = answer
  if (status >= 200 && status < 300) return null
  if (status === 401 || status === 403 || status === 404)
    return {
      kind: 'refused',
      message: `Twilio answers ${status}: the Account SID and the auth token do not belong together, or are test credentials.`,
    }
  return { kind: 'unavailable', message: `Twilio answered ${status}.` }
}

/** Where a sender is found in the account. Names and what a messaging service holds are not listed by this API. */
function listOf({ identifier }: Connection): readonly [path: string, field: string] | null {
  if (identifier.startsWith('+'))
    return [`/IncomingPhoneNumbers.json?${new URLSearchParams({ PhoneNumber: identifier })}`, 'incoming_phone_numbers']
  return /^\d{3,8}$/.test(identifier)
    ? [`/SMS/ShortCodes.json?${new URLSearchParams({ ShortCode: identifier })}`, 'short_codes']
    : null
}

async function checkSender(tools: ProviderTools, connection: Connection, signal: AbortSignal): Promise<ConnectOutcome> {
  const list = credentialsOf(connection).messaging_service_sid === undefined ? listOf(connection) : null
  if (list === null) return { kind: 'connected' }
  const [path, field] = list
  const answer = await callApi(tools, connection, path, signal)
  if (answer.kind !== 'answer') return { kind: 'unavailable', message: answer.message }
  const found = fieldsOf(answer)?.[field]
  // keys that may send need not be allowed to list numbers
  if (!Array.isArray(found) || found.length > 0) return { kind: 'connected' }
  return {
    kind: 'refused',
    message: `${connection.identifier} is none of the numbers of this Twilio account. Give one that is listed under Phone Numbers in the Twilio console.`,
  }
}
