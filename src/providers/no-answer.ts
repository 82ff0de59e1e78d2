/** What a hand-over over HTTP comes to that got no answer at all. */
import type { HttpAnswer } from '../lib/http-client.ts'
import type { Outcome } from './provider.ts'

/** `title` is the provider's, as people write it. */
export const outcomeOfNoAnswer = (title: string, answer: Exclude<HttpAnswer, { kind: 'answer' }>): Outcome =>
  answer.kind === 'unsent'
    ? { kind: 'unavailable', provider_code: answer.code, message: `${title} could not be reached: ${answer.message}` }
    : { kind: 'unknown', message: `${title} may have taken the message: ${answer.message}` }
