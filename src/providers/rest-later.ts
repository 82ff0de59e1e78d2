/** Between the parts of a message that becomes several: whether the next one goes now, and what becomes of the message where it does not (`PartTaken` of the contract). */
import type { Outcome, OnPartAccepted } from './provider.ts'

/** Tells what was taken so far; resolves to the time of the next part, null where it waits for the next hand-over. `time` is that of the part before. */
export const nextPart = async (
  took: OnPartAccepted | undefined,
  provider_ids: readonly string[],
  time: AbortSignal,
): Promise<AbortSignal | null> => (took === undefined ? time : await took([...provider_ids]))

export const restLater = (provider_ids: readonly string[]): Outcome => ({
  kind: 'unavailable',
  provider_code: null,
  message: 'The rest waits for the next hand-over.',
  provider_ids,
})
