/** Tries an API key by reading the log of sent messages, which it needs later, too. */
import { isObject, parsedObject } from '../../lib/json-fields.ts'
import type { Connection, ConnectOutcome, ProviderTools } from '../provider.ts'
import { callApi } from './api.ts'

export async function connect(
  tools: ProviderTools,
  connection: Connection,
  signal: AbortSignal,
): Promise<ConnectOutcome> {
  const answer = await callApi(tools, connection, '/sms/3/logs?limit=1', signal)
  if (answer.kind !== 'answer') return { kind: 'unavailable', message: answer.message }
  if (answer.status === 401)
    return {
      kind: 'refused',
      message: 'Infobip does not take the API key. Copy it again from API Keys in the Infobip portal.',
    }
  if (answer.status === 403)
    return {
      kind: 'refused',
      message:
        'The API key may not read the logs of SMS. Make one in the Infobip portal that may send SMS and read their logs.',
    }
  if (answer.status === 404)
    return {
      kind: 'refused',
      message: 'The base URL is none of Infobip. Copy it again from the first page of the Infobip portal.',
    }
  if (answer.status !== 200) return { kind: 'unavailable', message: `Infobip answered ${answer.status}.` }
  const results = parsedObject(answer.body)?.['results']
  if (Array.isArray(results) && results.every(isObject)) return { kind: 'connected' }
  return { kind: 'unavailable', message: 'What answered does not speak as Infobip does.' }
}
