/** Where a message stands and why. */
import type { components } from '../../api/generated/v1.ts'
import { inWords, text } from '../../text/en.ts'

type Message = components['schemas']['Message']

/** In one sentence. */
export function whyOf({ status, error, send_at, ...message }: Message, time: (instant: string) => string): string {
  const { why } = text.messages
  if (status === 'failed' && error !== null) {
    const sentence = (why.failed[error.code] ?? why.other)(error.message)
    return error.provider_code === '' ? sentence : why.withCode(sentence, error.provider_code)
  }
  if (status === 'queued' && send_at !== null && Date.parse(send_at) > Date.parse(message.created_at))
    return why.scheduled(time(send_at))
  return status in why ? why[status as 'queued'] : inWords(status)
}
