/** What becomes of a message of several parts whose rest is to wait for the next hand-over (`PartTaken` of the contract). */
import type { Outcome } from '../adapter.ts'

export const restLater = (provider_ids: readonly string[]): Outcome => ({
  kind: 'unavailable',
  provider_code: null,
  message: 'The rest waits for the next hand-over.',
  provider_ids,
})
