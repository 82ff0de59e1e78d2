/** The SMS API of Vonage (https://developer.vonage.com/en/api/sms). */
import { Type } from 'typebox'
import type { Provider, Connection, ConnectOutcome, ProviderTools } from '../provider.ts'
import { verifyToken } from '../sms-callbacks.ts'
import { receiveCallback } from './callbacks.ts'
import { send } from './send.ts'
import { parsedObject } from '../../lib/json.ts'

export const vonage: Provider = {
  name: 'vonage',
  title: 'Vonage',
  about: 'SMS through the Vonage (formerly Nexmo) SMS API.',
  types: ['sms'],
  offered: 'always',
  credentials: Type.Object({
    api_key: Type.String({
      title: 'API key',
      format: 'password',
      minLength: 1,
      maxLength: 100,
      description: 'At the top of API Settings in the Vonage dashboard.',
    }),
    api_secret: Type.String({
      title: 'API secret',
      format: 'password',
      minLength: 1,
      maxLength: 200,
      description: 'Next to the API key in the Vonage dashboard.',
    }),
    signature_secret: Type.Optional(
      Type.String({
        title: 'Signature secret',
        format: 'password',
        minLength: 1,
        maxLength: 200,
        description:
          'Under API Settings in the Vonage dashboard, if your account signs webhooks; choose the algorithm SHA-256 HMAC. Callbacks without a valid signature are then refused. Leave it empty if webhooks are not signed.',
      }),
    ),
    verify_token: verifyToken(
      'Verifies callbacks without a signature: append ?token= and this value to the address for inbound messages in the Vonage dashboard. If you leave it empty, one is generated and shown once.',
    ),
  }),
  identifier: 'required',
  url: {
    setting: 'POSTHORN_VONAGE_URL',
    fallback: 'https://rest.nexmo.com',
    about: 'The address of the Vonage SMS API.',
  },
  guide: 'vonage',
  limits: [
    'Vonage forwards a long inbound text in parts, which are joined here.',
    'An account sends up to 30 messages per second, a US long code one.',
    'Attachments are not supported.',
  ],
  capabilities: () => ['text'],
  adapter: (tools) => ({
    send: (message, connection, signal) => send(tools, message, connection, signal),
    connect: (connection, signal) => connect(tools, connection, signal),
    receiveCallback,
  }),
}

async function connect(
  tools: ProviderTools,
  { credentials }: Connection,
  signal: AbortSignal,
): Promise<ConnectOutcome> {
  const query = new URLSearchParams({
    api_key: String(credentials['api_key']),
    api_secret: String(credentials['api_secret']),
  })
  const answer = await tools.http.call({
    method: 'GET',
    url: `${tools.url}/account/get-balance?${query}`,
    headers: { accept: 'application/json' },
    signal,
  })
  if (answer.kind !== 'answer') return { kind: 'unavailable', message: answer.message }
  if (answer.status === 401 || answer.status === 403)
    return {
      kind: 'refused',
      message: 'Vonage rejected the API key and secret. Copy them from API Settings in the Vonage dashboard.',
    }
  if (answer.status !== 200) return { kind: 'unavailable', message: `Vonage answered ${answer.status}.` }
  return hasBalance(answer.body)
    ? { kind: 'connected' }
    : { kind: 'unavailable', message: 'The answer does not come from Vonage.' }
}

const hasBalance = (body: Buffer): boolean => typeof parsedObject(body)?.['value'] === 'number'
