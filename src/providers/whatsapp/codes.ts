/** WhatsApp's error codes: what each means for a message and its channel, one line each. */
import type { MessageErrorCode } from '../../api/resources/message.ts'
import type { Outcome } from '../provider.ts'
import type { GraphAnswer, GraphError } from './api.ts'

/**
 * `refuse`: it is not sent. `lose`: nothing can be sent on the channel. `throttle` and `retry`: it was not sent, and is later, within the message's validity.
 * `doubt`: WhatsApp does not say whether it was sent; the receipt, which carries our id, may.
 */
type Effect = 'refuse' | 'lose' | 'throttle' | 'retry' | 'doubt'

interface Meaning {
  readonly does: Effect
  /** The message's, once it fails. */
  readonly code: MessageErrorCode
  /** What it means, and what to do. */
  readonly words: string
  /** Throttling that does not end is a refusal. */
  readonly lasting?: boolean
  /** Of `throttle`: the message waits by itself, and the channel goes on. */
  readonly alone?: boolean
}

const meaning = (
  does: Effect,
  code: MessageErrorCode,
  words: string,
  more: Pick<Meaning, 'lasting' | 'alone'> = {},
): Meaning => ({
  does,
  code,
  words,
  ...more,
})

/** By code, as in https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes. */
const meanings: Readonly<Record<number, Meaning>> = {
  0: meaning(
    'lose',
    'channel_not_connected',
    'The access token is not taken. Make a new one and PATCH the channel with it.',
  ),
  190: meaning(
    'lose',
    'channel_not_connected',
    'The access token has expired or was revoked. Make a new one and PATCH the channel with it.',
  ),
  10: meaning(
    'lose',
    'channel_not_connected',
    'The access token lacks the permission whatsapp_business_messaging. Give it to the system user.',
  ),
  33: meaning('lose', 'channel_not_connected', 'The business phone number was deleted. Connect another one.'),
  133010: meaning(
    'lose',
    'channel_not_connected',
    'The phone number is not registered with the Cloud API. Register it in WhatsApp Manager.',
  ),
  131031: meaning('lose', 'policy_violation', 'The WhatsApp Business account is locked. Read why in WhatsApp Manager.'),
  3: meaning(
    'refuse',
    'channel_not_connected',
    'The app may not use this call. Check its permissions in the app dashboard.',
  ),
  131005: meaning(
    'refuse',
    'channel_not_connected',
    'The access token may not do this. Check the permissions of the system user.',
  ),
  131045: meaning(
    'refuse',
    'channel_not_connected',
    'The phone number has no certificate. Register it in WhatsApp Manager.',
  ),
  368: meaning(
    'refuse',
    'policy_violation',
    'The account is restricted for a while because of policy violations. Read why in WhatsApp Manager.',
  ),
  130497: meaning('refuse', 'policy_violation', 'The account may not send to recipients in this country.'),
  131037: meaning(
    'refuse',
    'policy_violation',
    'The display name of the number is not approved yet. Have it approved in WhatsApp Manager.',
  ),
  131047: meaning('refuse', 'policy_violation', 'The recipient has not written within 24 hours. Send a template.'),
  131049: meaning(
    'refuse',
    'policy_violation',
    'WhatsApp withheld it to keep the number of marketing messages to this recipient low. Do not send again today.',
  ),
  130472: meaning(
    'refuse',
    'policy_violation',
    'The recipient is part of an experiment of WhatsApp and gets no marketing messages.',
  ),
  131048: meaning(
    'throttle',
    'policy_violation',
    'Too many recipients have blocked or reported the number. Read its quality in WhatsApp Manager.',
    {
      lasting: true,
      // each message comes to its refusal soon, by which its sender is told; a pause would hide the limit for a day
      alone: true,
    },
  ),
  131050: meaning('refuse', 'recipient_blocked', 'The recipient has stopped marketing messages of this account.'),
  131026: meaning(
    'refuse',
    'provider_error',
    'WhatsApp cannot deliver to this recipient: no account, an old app, or terms that are not accepted.',
  ),
  131030: meaning(
    'refuse',
    'provider_error',
    'The recipient is not on the list of the test number. Add it in the app dashboard.',
  ),
  130403: meaning('refuse', 'provider_error', 'The recipient is not on the list of those who may be written to.'),
  131021: meaning('refuse', 'provider_error', 'Sender and recipient are the same number.'),
  100: meaning('refuse', 'provider_error', 'WhatsApp does not know or take a field of the message.'),
  131008: meaning('refuse', 'provider_error', 'A field that WhatsApp requires is missing.'),
  131009: meaning('refuse', 'provider_error', 'A field has a value that WhatsApp does not take.'),
  131051: meaning('refuse', 'provider_error', 'WhatsApp does not take messages of this type.'),
  131052: meaning('refuse', 'provider_error', 'WhatsApp could not fetch the file that came in.'),
  131053: meaning(
    'refuse',
    'provider_error',
    'WhatsApp could not fetch the file or does not take its kind. Check its address, type and size.',
  ),
  131042: meaning(
    'refuse',
    'provider_error',
    "Something is wrong with the account's payment method at Meta. Mend it in the billing settings.",
  ),
  135000: meaning('refuse', 'provider_error', 'WhatsApp could not send it with these parameters.'),
  132000: meaning('refuse', 'provider_error', 'The number of parameters is not that of the template.'),
  132001: meaning('refuse', 'provider_error', 'The template does not exist in this language, or is not approved.'),
  132005: meaning('refuse', 'provider_error', 'The template with its parameters is too long.'),
  132007: meaning('refuse', 'provider_error', 'The template breaks a policy of WhatsApp.'),
  132012: meaning('refuse', 'provider_error', 'A parameter has not the format that the template wants.'),
  132015: meaning('refuse', 'provider_error', 'The template is paused for low quality.'),
  132016: meaning('refuse', 'provider_error', 'The template was paused too often and is disabled for good.'),
  132018: meaning('refuse', 'provider_error', 'A parameter of the template is not valid.'),
  132068: meaning('refuse', 'provider_error', 'The flow is blocked.'),
  132069: meaning('refuse', 'provider_error', 'The flow is throttled.'),
  4: meaning('throttle', 'provider_error', 'The app makes too many calls.'),
  80007: meaning('throttle', 'provider_error', 'The WhatsApp Business account makes too many calls.'),
  130429: meaning('throttle', 'provider_error', 'The number sends more messages a second than its throughput.'),
  131056: meaning('throttle', 'provider_error', 'Too many messages to this one recipient in a short time.', {
    alone: true,
  }),
  131057: meaning('throttle', 'provider_error', 'The account is in maintenance, as while its throughput is raised.'),
  1: meaning('doubt', 'provider_error', 'WhatsApp met an error of its own.'),
  2: meaning('retry', 'provider_error', 'The service of WhatsApp is down for a while.'),
  131000: meaning('retry', 'provider_error', 'WhatsApp met an error of its own.'),
  131016: meaning('retry', 'provider_error', 'The service of WhatsApp is overloaded for a while.'),
  133004: meaning('retry', 'provider_error', 'The server of WhatsApp is not available for a while.'),
  133016: meaning(
    'throttle',
    'provider_error',
    'The number was registered or deregistered too often. It can be again after 72 hours.',
  ),
}
/** 200 to 299, as a group. */
const permission = meaning(
  'lose',
  'channel_not_connected',
  'The access token lacks a permission, or lost it. Give it to the system user.',
)
/** An object that does not exist or may not be seen: code 100 with this subcode. */
const invisibleSubcode = 33

/** The recipient stopped marketing. */
export const marketingStopped = 131050

/** The template does not exist, is paused, or is disabled. */
const templateRefusals: ReadonlySet<number> = new Set([132001, 132015, 132016])
/** How long the first waits after a throttled hand-over are: four times as long each time, as WhatsApp asks for pairs of sender and recipient. */
const pairWaitsMs = [4000, 16_000, 60_000]
const pairRate = 131056

function meaningOf({ code, subcode }: GraphError, status: number | null): Meaning {
  if (code === 100 && subcode === invisibleSubcode) return meanings[33]!
  const known = meanings[code] ?? (code >= 200 && code <= 299 ? permission : undefined)
  if (known !== undefined) return known
  if (status === 429) return meaning('throttle', 'provider_error', 'WhatsApp takes no more calls for a while.')
  if (status !== null && status >= 500) return meaning('doubt', 'provider_error', 'WhatsApp met an error of its own.')
  return meaning('refuse', 'provider_error', 'WhatsApp refused the message.')
}

const ownMax = 500

/** What it means, and what WhatsApp itself says. */
const told = ({ words }: Meaning, { message, details }: GraphError): string => {
  const own = details ?? message
  return own === '' ? words : `${words} WhatsApp says: ${own.slice(0, ownMax)}`
}

type GraphRefusal = Extract<GraphAnswer, { kind: 'error' }>

/** What a refused hand-over comes to. `attempt` is 1 for the first. */
export function outcomeOf({ error, status, retry_after_ms }: GraphRefusal, attempt: number): Outcome {
  const found = meaningOf(error, status)
  const said = { provider_code: String(error.code), message: told(found, error) }
  if (found.does === 'retry') return { kind: 'unavailable', ...said }
  if (found.does === 'doubt') return { kind: 'unknown', message: said.message }
  if (found.does === 'throttle') {
    const wait = error.code === pairRate ? pairWaitsMs[Math.min(attempt, pairWaitsMs.length) - 1] : retry_after_ms
    const if_lasting = { code: found.code, ...said }
    const limit_on = found.alone === true ? 'recipient' : 'channel'
    return {
      kind: 'throttled',
      limit_on,
      ...said,
      ...(wait === undefined ? {} : { retry_after_ms: wait }),
      ...(found.lasting === true ? { if_lasting } : {}),
    }
  }
  return { kind: 'refused', code: found.code, ...said, ...beyondMessage(error.code, found) }
}

/** What a refusal tells of the channel, the recipient or the template. */
function beyondMessage(code: number, { does }: Meaning) {
  if (does === 'lose') return { channel_lost: true }
  if (templateRefusals.has(code)) return { template_refused: true as const }
  return code === marketingStopped ? { opted_out: 'marketing' as const } : {}
}

/** What a failure told later means for the message. */
export function failureOf(error: GraphError): {
  readonly code: MessageErrorCode
  readonly message: string
  readonly provider_code: string
} {
  const found = meaningOf(error, null)
  return { code: found.code, message: told(found, error), provider_code: String(error.code) }
}

/** Whether the same call may succeed later, and the sentence for whoever reads it. */
export function refusalOf(
  error: GraphError,
  status: number,
): { readonly kind: 'refused' | 'unavailable'; readonly message: string } {
  const found = meaningOf(error, status)
  const message = `WhatsApp says: ${error.details ?? error.message} (code ${error.code}).`
  return ['retry', 'doubt', 'throttle'].includes(found.does)
    ? { kind: 'unavailable', message }
    : { kind: 'refused', message }
}
