/** WhatsApp error codes and their consequences. */
import type { MessageErrorCode } from '../../api/resources/message.ts'
import type { Outcome } from '../provider.ts'
import type { GraphAnswer, GraphError } from './api.ts'

/**
 * `lost`: nothing can be sent on the channel. `throttled`, `unavailable`: not sent, repeated. `unknown`: perhaps sent,
 * until the delivery receipt.
 */
type Effect = 'refused' | 'lost' | 'throttled' | 'unavailable' | 'unknown'

interface Meaning {
  readonly effect: Effect
  readonly code: MessageErrorCode
  readonly sentence: string
  readonly refused_if_lasting?: boolean
  readonly recipient_only?: boolean
}

const meaning = (
  effect: Effect,
  code: MessageErrorCode,
  sentence: string,
  more: Pick<Meaning, 'refused_if_lasting' | 'recipient_only'> = {},
): Meaning => ({
  effect,
  code,
  sentence,
  ...more,
})

/** https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes */
const meanings: Readonly<Record<number, Meaning>> = {
  0: meaning(
    'lost',
    'channel_not_connected',
    'WhatsApp rejected the access token. Create a new one and update the channel with it.',
  ),
  190: meaning(
    'lost',
    'channel_not_connected',
    'The access token has expired or was revoked. Create a new one and update the channel with it.',
  ),
  10: meaning(
    'lost',
    'channel_not_connected',
    'The access token lacks the permission whatsapp_business_messaging. Grant it to the system user.',
  ),
  33: meaning('lost', 'channel_not_connected', 'The business phone number was deleted. Connect another one.'),
  133010: meaning(
    'lost',
    'channel_not_connected',
    'The phone number is not registered with the Cloud API. Register it in WhatsApp Manager.',
  ),
  131031: meaning(
    'lost',
    'policy_violation',
    'The WhatsApp Business account is locked. See WhatsApp Manager for the reason.',
  ),
  3: meaning(
    'refused',
    'channel_not_connected',
    'The app may not use this call. Check its permissions in the app dashboard.',
  ),
  131005: meaning(
    'refused',
    'channel_not_connected',
    'The access token may not do this. Check the permissions of the system user.',
  ),
  131045: meaning(
    'refused',
    'channel_not_connected',
    'The phone number has no certificate. Register it in WhatsApp Manager.',
  ),
  368: meaning(
    'refused',
    'policy_violation',
    'The account is temporarily restricted because of policy violations. See WhatsApp Manager for the reason.',
  ),
  130497: meaning('refused', 'policy_violation', 'The account may not send to recipients in this country.'),
  131037: meaning(
    'refused',
    'policy_violation',
    'The display name of the number is not approved yet. Get it approved in WhatsApp Manager.',
  ),
  131047: meaning(
    'refused',
    'policy_violation',
    'The recipient has not written within the last 24 hours. Send a template.',
  ),
  131049: meaning(
    'refused',
    'policy_violation',
    'WhatsApp did not deliver it, to limit the number of marketing messages to this recipient. Do not send again today.',
  ),
  130472: meaning(
    'refused',
    'policy_violation',
    'The recipient is part of a WhatsApp experiment and gets no marketing messages.',
  ),
  131048: meaning(
    'throttled',
    'policy_violation',
    'Too many recipients have blocked or reported the number. Check its quality rating in WhatsApp Manager.',
    {
      refused_if_lasting: true,
      // the limit lasts a day, so each message fails after a while
      recipient_only: true,
    },
  ),
  131050: meaning('refused', 'recipient_blocked', 'The recipient has stopped marketing messages from this account.'),
  131026: meaning(
    'refused',
    'provider_error',
    'WhatsApp cannot deliver to this recipient: no account, an outdated app, or terms that are not accepted.',
  ),
  131030: meaning(
    'refused',
    'provider_error',
    'The recipient is not on the list of the test number. Add it in the app dashboard.',
  ),
  130403: meaning('refused', 'provider_error', 'The recipient is not on the list of allowed recipients.'),
  131021: meaning('refused', 'provider_error', 'Sender and recipient are the same number.'),
  100: meaning('refused', 'provider_error', 'WhatsApp rejected a field of the message.'),
  131008: meaning('refused', 'provider_error', 'A field that WhatsApp requires is missing.'),
  131009: meaning('refused', 'provider_error', 'A field has a value that WhatsApp does not accept.'),
  131051: meaning('refused', 'provider_error', 'WhatsApp does not accept messages of this type.'),
  131052: meaning('refused', 'provider_error', 'WhatsApp could not fetch the inbound file.'),
  131053: meaning(
    'refused',
    'provider_error',
    'WhatsApp could not fetch the file or does not accept it. Check its address, type and size.',
  ),
  131042: meaning(
    'refused',
    'provider_error',
    "There is a problem with the account's payment method at Meta. Fix it in the billing settings.",
  ),
  135000: meaning('refused', 'provider_error', 'WhatsApp could not send it with these parameters.'),
  132000: meaning('refused', 'provider_error', 'The number of parameters does not match the template.'),
  132001: meaning('refused', 'provider_error', 'The template does not exist in this language, or is not approved.'),
  132005: meaning('refused', 'provider_error', 'The template with its parameters is too long.'),
  132007: meaning('refused', 'provider_error', 'The template violates a WhatsApp policy.'),
  132012: meaning('refused', 'provider_error', 'A parameter does not have the format that the template requires.'),
  132015: meaning('refused', 'provider_error', 'The template is paused for low quality.'),
  132016: meaning('refused', 'provider_error', 'The template was paused too often and is permanently disabled.'),
  132018: meaning('refused', 'provider_error', 'A parameter of the template is not valid.'),
  132068: meaning('refused', 'provider_error', 'The flow is blocked.'),
  132069: meaning('refused', 'provider_error', 'The flow is throttled.'),
  4: meaning('throttled', 'provider_error', 'The app makes too many calls.'),
  80007: meaning('throttled', 'provider_error', 'The WhatsApp Business account makes too many calls.'),
  130429: meaning(
    'throttled',
    'provider_error',
    'The number sends more messages per second than its throughput allows.',
  ),
  131056: meaning('throttled', 'provider_error', 'Too many messages to this recipient in a short time.', {
    recipient_only: true,
  }),
  131057: meaning(
    'throttled',
    'provider_error',
    'The account is in maintenance, for example while its throughput is raised.',
  ),
  1: meaning('unknown', 'provider_error', 'WhatsApp had an internal error.'),
  2: meaning('unavailable', 'provider_error', 'WhatsApp is temporarily down.'),
  131000: meaning('unavailable', 'provider_error', 'WhatsApp had an internal error.'),
  131016: meaning('unavailable', 'provider_error', 'WhatsApp is temporarily overloaded.'),
  133004: meaning('unavailable', 'provider_error', 'The WhatsApp server is temporarily unavailable.'),
  133016: meaning(
    'throttled',
    'provider_error',
    'The number was registered or deregistered too often. Try again after 72 hours.',
  ),
}
/** Codes 200 to 299. */
const permission = meaning(
  'lost',
  'channel_not_connected',
  'The access token lacks a permission. Grant it to the system user.',
)
const invisibleSubcode = 33

export const marketingStopped = 131050

/** The template is missing, paused or disabled. */
const templateRefusals: ReadonlySet<number> = new Set([132001, 132015, 132016])
/** Four times longer each time, as WhatsApp requires per sender and recipient. */
const pairWaitsMs = [4000, 16_000, 60_000]
const pairRate = 131056

function meaningOf({ code, subcode }: GraphError, status: number | null): Meaning {
  if (code === 100 && subcode === invisibleSubcode) return meanings[33]!
  const known = meanings[code] ?? (code >= 200 && code <= 299 ? permission : undefined)
  if (known !== undefined) return known
  if (status === 429) return meaning('throttled', 'provider_error', 'WhatsApp accepts no more calls for now.')
  if (status !== null && status >= 500) return meaning('unknown', 'provider_error', 'WhatsApp had an internal error.')
  return meaning('refused', 'provider_error', 'WhatsApp refused the message.')
}

const detailsLengthMax = 500

const messageOf = ({ sentence }: Meaning, { message, details }: GraphError): string => {
  const text = details ?? message
  return text === '' ? sentence : `${sentence} WhatsApp says: ${text.slice(0, detailsLengthMax)}`
}

type GraphRefusal = Extract<GraphAnswer, { kind: 'error' }>

export function outcomeOf({ error, status, retry_after_ms }: GraphRefusal, attempt: number): Outcome {
  const found = meaningOf(error, status)
  const texts = { provider_code: String(error.code), message: messageOf(found, error) }
  if (found.effect === 'unavailable') return { kind: 'unavailable', ...texts }
  if (found.effect === 'unknown') return { kind: 'unknown', message: texts.message }
  if (found.effect === 'throttled') {
    const wait = error.code === pairRate ? pairWaitsMs[Math.min(attempt, pairWaitsMs.length) - 1] : retry_after_ms
    const if_lasting = { code: found.code, ...texts }
    const limit_on = found.recipient_only === true ? 'recipient' : 'channel'
    return {
      kind: 'throttled',
      limit_on,
      ...texts,
      ...(wait === undefined ? {} : { retry_after_ms: wait }),
      ...(found.refused_if_lasting === true ? { if_lasting } : {}),
    }
  }
  return { kind: 'refused', code: found.code, ...texts, ...consequencesOf(error.code, found) }
}

function consequencesOf(code: number, { effect }: Meaning) {
  if (effect === 'lost') return { channel_lost: true }
  if (templateRefusals.has(code)) return { template_refused: true as const }
  return code === marketingStopped ? { opted_out: 'marketing' as const } : {}
}

export function failureOf(error: GraphError): {
  readonly code: MessageErrorCode
  readonly message: string
  readonly provider_code: string
} {
  const found = meaningOf(error, null)
  return { code: found.code, message: messageOf(found, error), provider_code: String(error.code) }
}

export function refusalOf(
  error: GraphError,
  status: number,
): { readonly kind: 'refused' | 'unavailable'; readonly message: string } {
  const found = meaningOf(error, status)
  const message = `WhatsApp says: ${error.details ?? error.message} (code ${error.code}).`
  return ['unavailable', 'unknown', 'throttled'].includes(found.effect)
    ? { kind: 'unavailable', message }
    : { kind: 'refused', message }
}
