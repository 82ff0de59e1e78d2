/** Tries an API key and its secret by asking for the balance of the account. */
import { parsedObject } from '../../lib/json-fields.ts'
import type { Connection, ConnectOutcome, ProviderTools } from '../provider.ts'

export async function connect(
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
      message: 'Vonage does not take the API key and secret. Look them up under API Settings in the Vonage dashboard.',
    }
  if (answer.status !== 200) return { kind: 'unavailable', message: `Vonage answered ${answer.status}.` }
  return hasBalance(answer.body)
    ? { kind: 'connected' }
    : { kind: 'unavailable', message: 'What answered does not speak as Vonage does.' }
}

const hasBalance = (body: Buffer): boolean => typeof parsedObject(body)?.['value'] === 'number'
