/** Tries the credentials of a channel: the number, the account and its permissions, and the app's secret; and subscribes the app to the account's callbacks. */
import { hmacHex } from '../../lib/hmac.ts'
import type { Connection, ConnectOutcome, ProviderTools } from '../provider.ts'
import { refusalOf } from './codes.ts'
import { callGraph, credentialsOf, segment, type Credentials, type GraphCall } from './api.ts'
import { type Fields } from '../../lib/json-fields.ts'
import { objectAt, objectsAt, textAt } from './json.ts'

interface Read {
  readonly kind: 'read'
  readonly body: Fields
}
type Failure = Extract<ConnectOutcome, { message: string }>

/** States of a number that cannot send, and what to do. */
const unusable: Readonly<Record<string, string>> = {
  PENDING: 'The phone number is not registered with the Cloud API yet. Register it in WhatsApp Manager.',
  UNVERIFIED: 'The phone number is not verified yet. Verify it in WhatsApp Manager.',
  DISCONNECTED: 'The phone number is disconnected. Register it in WhatsApp Manager.',
  DELETED: 'The phone number was deleted. Use another one.',
  MIGRATED: 'The phone number was moved to another account. Use the credentials of that one.',
  BANNED: 'The phone number is banned. Read why in WhatsApp Manager.',
}

export async function connect(
  tools: ProviderTools,
  connection: Connection,
  signal: AbortSignal,
): Promise<ConnectOutcome> {
  const credentials = credentialsOf(connection)
  const number = await read(tools, credentials, signal, 'phone_number_id', numberCall(credentials))
  if (number.kind !== 'read') return number
  const identifier = `+${(textAt(number.body, 'display_phone_number') ?? '').replaceAll(/\D/g, '')}`
  const wrong = wrongNumber(number.body, identifier)
  if (wrong !== null) return { kind: 'refused', message: wrong }
  const account = segment(credentials.business_account_id)
  const numbers = await read(tools, credentials, signal, 'business_account_id', {
    method: 'GET',
    path: `${account}/phone_numbers`,
    query: { fields: 'id', limit: '500' },
  })
  // whoever may send need not be allowed to list the numbers: what cannot be read is not held against the credentials
  const listed = numbers.kind === 'read' ? objectsAt(numbers.body, 'data') : []
  if (listed.length > 0 && !listed.some((one) => textAt(one, 'id') === credentials.phone_number_id))
    return {
      kind: 'refused',
      message:
        'The phone number does not belong to the WhatsApp Business account of `business_account_id`. Copy both ids again.',
    }
  const templates = await read(tools, credentials, signal, 'business_account_id', {
    method: 'GET',
    path: `${account}/message_templates`,
    query: { fields: 'id', limit: '1' },
  })
  if (templates.kind !== 'read') return templates
  return { kind: 'connected', identifier }
}

/** The app is told of what happens on the account; where to call it is entered in the app's dashboard. */
export async function register(
  tools: ProviderTools,
  connection: Connection,
  signal: AbortSignal,
): Promise<ConnectOutcome> {
  const credentials = credentialsOf(connection)
  const path = `${segment(credentials.business_account_id)}/subscribed_apps`
  const subscribed = await read(tools, credentials, signal, 'access_token', { method: 'POST', path, body: {} })
  if (subscribed.kind !== 'read') return subscribed
  return subscribed.body['success'] === true
    ? { kind: 'connected' }
    : { kind: 'unavailable', message: "WhatsApp's API did not say that the app is subscribed." }
}

const fields = 'id,display_phone_number,verified_name,quality_rating,status,health_status'

/** The proof, which Graph checks, tells a wrong app secret now instead of by callbacks that are never taken. */
const numberCall = ({ access_token, app_secret, phone_number_id }: Credentials): GraphCall => ({
  method: 'GET',
  path: segment(phone_number_id),
  query: { fields, appsecret_proof: hmacHex(app_secret, access_token) },
})

async function read(
  tools: ProviderTools,
  credentials: Credentials,
  signal: AbortSignal,
  about: keyof Credentials,
  call: GraphCall,
): Promise<Read | Failure> {
  const answer = await callGraph(tools, credentials, call, signal)
  if (answer.kind === 'ok') return { kind: 'read', body: answer.body }
  if (answer.kind !== 'error') return { kind: 'unavailable', message: answer.message }
  const refusal = refusalOf(answer.error, answer.status)
  if (refusal.kind === 'unavailable') return refusal
  const wrong = /appsecret_proof/.test(answer.error.message)
    ? 'app_secret'
    : isOfToken(answer.error.code)
      ? 'access_token'
      : about
  return { kind: 'refused', message: `Look at \`credentials.${wrong}\`. ${refusal.message}` }
}

/** Errors of the token and its permissions. */
const isOfToken = (code: number): boolean => [0, 3, 10, 190].includes(code) || (code >= 200 && code <= 299)

/** Why this number cannot be the channel's; null where it can. */
function wrongNumber(number: Fields, identifier: string): string | null {
  if (!/^\+[1-9]\d{6,14}$/.test(identifier))
    return 'WhatsApp tells no phone number for `phone_number_id`. Copy it again from WhatsApp Manager.'
  return unusable[textAt(number, 'status') ?? ''] ?? blockedBecause(objectAt(number, 'health_status'))
}

/** What keeps number, account, business or app from sending, in WhatsApp's own words; null where nothing does. */
function blockedBecause(health: Fields | undefined): string | null {
  if (health === undefined || textAt(health, 'can_send_message') !== 'BLOCKED') return null
  const [error] = objectsAt(health, 'entities').flatMap((entity) => objectsAt(entity, 'errors'))
  const words =
    error === undefined
      ? []
      : ['error_description', 'possible_solution'].flatMap((key) => textAt(error, key)?.slice(0, 500) ?? [])
  return ['WhatsApp lets this number send nothing.', ...words].join(' ')
}
