/** Tests the credentials and subscribes the app to the account's callbacks. */
import { hmacHex } from '../../lib/hmac.ts'
import type { Connection, ConnectOutcome, ProviderTools } from '../provider.ts'
import { refusalOf } from './codes.ts'
import {
  callGraph,
  credentialsOf,
  segment,
  type Credentials,
  type GraphCall,
  objectAt,
  objectsAt,
  textAt,
} from './api.ts'
import type { Fields } from '../../lib/json.ts'

interface Read {
  readonly kind: 'read'
  readonly body: Fields
}
type Failure = Extract<ConnectOutcome, { message: string }>

const unusable: Readonly<Record<string, string>> = {
  PENDING: 'The phone number is not registered with the Cloud API yet. Register it in WhatsApp Manager.',
  UNVERIFIED: 'The phone number is not verified yet. Verify it in WhatsApp Manager.',
  DISCONNECTED: 'The phone number is disconnected. Register it in WhatsApp Manager.',
  DELETED: 'The phone number was deleted. Use another one.',
  MIGRATED: 'The phone number was moved to another account. Use the credentials of that account.',
  BANNED: 'The phone number is banned. See WhatsApp Manager for the reason.',
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
  // a token may send without being allowed to list numbers
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

/** The callback address itself is entered in the app dashboard. */
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
    : { kind: 'unavailable', message: "WhatsApp's API did not confirm the app's subscription." }
}

const fields = 'id,display_phone_number,verified_name,quality_rating,status,health_status'

/** `appsecret_proof` reveals a wrong app secret now, not at the first callback. */
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
  return { kind: 'refused', message: `Check \`credentials.${wrong}\`. ${refusal.message}` }
}

const isOfToken = (code: number): boolean => [0, 3, 10, 190].includes(code) || (code >= 200 && code <= 299)

function wrongNumber(number: Fields, identifier: string): string | null {
  if (!/^\+[1-9]\d{6,14}$/.test(identifier))
    return 'WhatsApp returned no phone number for `phone_number_id`. Copy it again from WhatsApp Manager.'
  return unusable[textAt(number, 'status') ?? ''] ?? blockedBecause(objectAt(number, 'health_status'))
}

/** In WhatsApp's words; null if nothing is blocked. */
function blockedBecause(health: Fields | undefined): string | null {
  if (health === undefined || textAt(health, 'can_send_message') !== 'BLOCKED') return null
  const [error] = objectsAt(health, 'entities').flatMap((entity) => objectsAt(entity, 'errors'))
  const words =
    error === undefined
      ? []
      : ['error_description', 'possible_solution'].flatMap((key) => textAt(error, key)?.slice(0, 500) ?? [])
  return ['WhatsApp does not allow this number to send.', ...words].join(' ')
}
